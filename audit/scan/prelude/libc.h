// SPDX-License-Identifier: Apache-2.0
// Declarations of the C library and of Linux, for machines and sysroots that have none.
#ifndef PINWARDEN_PRELUDE_LIBC_H
#define PINWARDEN_PRELUDE_LIBC_H

#ifdef __cplusplus
#define PINWARDEN_BEGIN extern "C" {
#define PINWARDEN_END }
#define PINWARDEN_NOTHROW noexcept
#else
#define PINWARDEN_BEGIN
#define PINWARDEN_END
#define PINWARDEN_NOTHROW
typedef __WCHAR_TYPE__ wchar_t;
#endif

PINWARDEN_BEGIN

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
typedef long time_t;
typedef unsigned mode_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTMAX_TYPE__ intmax_t;
typedef __UINTMAX_TYPE__ uintmax_t;
typedef uint8_t uint_least8_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef struct pinwarden_file FILE;
typedef __builtin_va_list va_list;
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct iovec {
    void *iov_base;
    size_t iov_len;
};
#ifndef __cplusplus
typedef struct {
    long long __a;
    long double __b;
} max_align_t;
#endif

#ifdef __cplusplus
#define NULL __null
#else
#define NULL ((void *)0)
#define bool _Bool
#define true 1
#define false 0
#define static_assert _Static_assert
#define noreturn _Noreturn
#define alignas _Alignas
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define SIZE_MAX __SIZE_MAX__
#define UINTPTR_MAX __UINTPTR_MAX__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LONG_MAX __LONG_MAX__
#define INT32_MAX __INT32_MAX__
#define UINT32_MAX __UINT32_MAX__
#define INT64_MAX __INT64_MAX__
#define UINT64_MAX __UINT64_MAX__
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define EOF (-1)
#define assert(condition) ((condition) ? (void)0 : __builtin_abort())
extern int errno;
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define EIO 5
#define PRIu64 "lu"
#define PRId64 "ld"

extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;

void *malloc(size_t size) PINWARDEN_NOTHROW;
void *calloc(size_t count, size_t size) PINWARDEN_NOTHROW;
void *realloc(void *old, size_t size) PINWARDEN_NOTHROW;
void *aligned_alloc(size_t alignment, size_t size) PINWARDEN_NOTHROW;
void *memalign(size_t alignment, size_t size) PINWARDEN_NOTHROW;
int posix_memalign(void **out, size_t alignment, size_t size) PINWARDEN_NOTHROW;
void free(void *memory) PINWARDEN_NOTHROW;
void abort(void) PINWARDEN_NOTHROW __attribute__((noreturn));
void exit(int status) PINWARDEN_NOTHROW __attribute__((noreturn));
void _exit(int status) PINWARDEN_NOTHROW __attribute__((noreturn));
int atexit(void (*function)(void)) PINWARDEN_NOTHROW;
char *getenv(const char *name) PINWARDEN_NOTHROW;
int atoi(const char *text) PINWARDEN_NOTHROW;
long atol(const char *text) PINWARDEN_NOTHROW;
double atof(const char *text) PINWARDEN_NOTHROW;
long strtol(const char *text, char **end, int base) PINWARDEN_NOTHROW;
unsigned long strtoul(const char *text, char **end, int base) PINWARDEN_NOTHROW;
int rand(void) PINWARDEN_NOTHROW;
void srand(unsigned seed) PINWARDEN_NOTHROW;
int abs(int value) PINWARDEN_NOTHROW;

void *memcpy(void *to, const void *from, size_t n) PINWARDEN_NOTHROW;
void *memmove(void *to, const void *from, size_t n) PINWARDEN_NOTHROW;
void *memset(void *to, int value, size_t n) PINWARDEN_NOTHROW;
int memcmp(const void *left, const void *right, size_t n) PINWARDEN_NOTHROW;
void explicit_bzero(void *to, size_t n) PINWARDEN_NOTHROW;
size_t strlen(const char *text) PINWARDEN_NOTHROW;
int strcmp(const char *left, const char *right) PINWARDEN_NOTHROW;
int strncmp(const char *left, const char *right, size_t n) PINWARDEN_NOTHROW;
char *strcpy(char *to, const char *from) PINWARDEN_NOTHROW;
char *strncpy(char *to, const char *from, size_t n) PINWARDEN_NOTHROW;
char *strcat(char *to, const char *from) PINWARDEN_NOTHROW;
char *strdup(const char *text) PINWARDEN_NOTHROW;
char *strerror(int code) PINWARDEN_NOTHROW;
size_t strcspn(const char *text, const char *reject) PINWARDEN_NOTHROW;
#ifdef __cplusplus
}
extern "C++" {
void *memchr(void *in, int value, size_t n) noexcept;
const void *memchr(const void *in, int value, size_t n) noexcept;
const char *strchr(const char *text, int value) noexcept;
const char *strrchr(const char *text, int value) noexcept;
const char *strstr(const char *text, const char *part) noexcept;
}
extern "C" {
#else
void *memchr(const void *in, int value, size_t n);
char *strchr(const char *text, int value);
char *strrchr(const char *text, int value);
char *strstr(const char *text, const char *part);
#endif

int printf(const char *format, ...) PINWARDEN_NOTHROW;
int fprintf(FILE *file, const char *format, ...) PINWARDEN_NOTHROW;
int sprintf(char *to, const char *format, ...) PINWARDEN_NOTHROW;
int snprintf(char *to, size_t n, const char *format, ...) PINWARDEN_NOTHROW;
int vfprintf(FILE *file, const char *format, va_list list) PINWARDEN_NOTHROW;
int vsnprintf(char *to, size_t n, const char *format, va_list list) PINWARDEN_NOTHROW;
int puts(const char *text) PINWARDEN_NOTHROW;
int putchar(int c) PINWARDEN_NOTHROW;
int fputs(const char *text, FILE *file) PINWARDEN_NOTHROW;
char *fgets(char *to, int n, FILE *file) PINWARDEN_NOTHROW;
FILE *fopen(const char *path, const char *mode) PINWARDEN_NOTHROW;
int fclose(FILE *file) PINWARDEN_NOTHROW;
int fflush(FILE *file) PINWARDEN_NOTHROW;
int fseek(FILE *file, long offset, int from) PINWARDEN_NOTHROW;
long ftell(FILE *file) PINWARDEN_NOTHROW;
size_t fread(void *to, size_t size, size_t n, FILE *file) PINWARDEN_NOTHROW;
size_t fwrite(const void *from, size_t size, size_t n, FILE *file) PINWARDEN_NOTHROW;
void perror(const char *what) PINWARDEN_NOTHROW;

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_DIRECT 040000
#define _SC_PAGESIZE 30
int open(const char *path, int flags, ...) PINWARDEN_NOTHROW;
int close(int fd) PINWARDEN_NOTHROW;
ssize_t read(int fd, void *to, size_t n) PINWARDEN_NOTHROW;
ssize_t write(int fd, const void *from, size_t n) PINWARDEN_NOTHROW;
ssize_t pread(int fd, void *to, size_t n, off_t at) PINWARDEN_NOTHROW;
int usleep(unsigned microseconds) PINWARDEN_NOTHROW;
unsigned sleep(unsigned seconds) PINWARDEN_NOTHROW;
long sysconf(int name) PINWARDEN_NOTHROW;
int ftruncate(int fd, off_t length) PINWARDEN_NOTHROW;

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 0x01
#define MAP_PRIVATE 0x02
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_LOCKED 0x2000
#define MAP_POPULATE 0x8000
#define MAP_HUGETLB 0x40000
#define MAP_FAILED ((void *)-1)
#define MLOCK_ONFAULT 1
#define MCL_CURRENT 1
#define MCL_FUTURE 2
#define MADV_DONTFORK 10
#define MADV_HUGEPAGE 14
#define MADV_DONTDUMP 16
void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) PINWARDEN_NOTHROW;
int munmap(void *at, size_t n) PINWARDEN_NOTHROW;
void *mremap(void *old, size_t old_n, size_t n, int flags, ...) PINWARDEN_NOTHROW;
int mlock(const void *at, size_t n) PINWARDEN_NOTHROW;
int mlock2(const void *at, size_t n, unsigned flags) PINWARDEN_NOTHROW;
int munlock(const void *at, size_t n) PINWARDEN_NOTHROW;
int mlockall(int flags) PINWARDEN_NOTHROW;
int munlockall(void) PINWARDEN_NOTHROW;
int madvise(void *at, size_t n, int advice) PINWARDEN_NOTHROW;
int mprotect(void *at, size_t n, int protection) PINWARDEN_NOTHROW;

typedef struct {
    long __a[5];
} pthread_mutex_t;
typedef unsigned long pthread_t;
int pthread_mutex_lock(pthread_mutex_t *mutex) PINWARDEN_NOTHROW;
int pthread_mutex_unlock(pthread_mutex_t *mutex) PINWARDEN_NOTHROW;

PINWARDEN_END

#ifndef __cplusplus
typedef _Atomic int atomic_int;
typedef _Atomic unsigned atomic_uint;
typedef _Atomic _Bool atomic_bool;
typedef _Atomic size_t atomic_size_t;
#define atomic_load(at) __c11_atomic_load(at, __ATOMIC_SEQ_CST)
#define atomic_store(at, value) __c11_atomic_store(at, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(at, value) __c11_atomic_fetch_add(at, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(at, value) __c11_atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST)
#endif
#endif
