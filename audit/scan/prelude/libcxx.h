// SPDX-License-Identifier: Apache-2.0
// As much of the C++ standard library as code around pins tends to use, for machines that have none. What decides
// about ownership (moves, smart pointers) has bodies; the rest is declared with the exception specifications it has.
#ifndef PINWARDEN_PRELUDE_LIBCXX_H
#define PINWARDEN_PRELUDE_LIBCXX_H
#include "libc.h"

void *operator new(size_t n);
void *operator new[](size_t n);
void operator delete(void *memory) noexcept;
void operator delete[](void *memory) noexcept;

namespace std {
using ::size_t; using ::ptrdiff_t; using ::FILE; using ::time_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
using ::malloc; using ::calloc; using ::realloc; using ::free; using ::aligned_alloc; using ::abort; using ::exit;
using ::atexit; using ::getenv; using ::atoi; using ::strtol; using ::strtoul; using ::rand; using ::abs;
using ::memcpy; using ::memmove; using ::memset; using ::memcmp; using ::memchr; using ::strlen; using ::strcmp;
using ::strncmp; using ::strcpy; using ::strchr; using ::strrchr; using ::strstr; using ::strcspn; using ::strerror;
using ::printf; using ::fprintf; using ::snprintf; using ::puts; using ::fputs; using ::fgets; using ::fopen;
using ::fclose; using ::fflush; using ::fread; using ::fwrite; using ::fseek; using ::ftell; using ::perror;
using nullptr_t = decltype(nullptr);
using byte = unsigned char;
using max_align_t = long double;

struct nothrow_t {};
extern const nothrow_t nothrow;
enum class align_val_t : size_t {};

template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T &> { using type = T; };
template <class T> struct remove_reference<T &&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_extent { using type = T; };
template <class T> struct remove_extent<T[]> { using type = T; };
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <class T, T V> struct integral_constant { static constexpr T value = V; };
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <class T> struct is_trivially_copyable : integral_constant<bool, __is_trivially_copyable(T)> {};
template <class T> inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);

template <class T> constexpr remove_reference_t<T> &&move(T &&v) noexcept
{
    return static_cast<remove_reference_t<T> &&>(v);
}
template <class T> constexpr T &&forward(remove_reference_t<T> &v) noexcept { return static_cast<T &&>(v); }
template <class T> constexpr T &&forward(remove_reference_t<T> &&v) noexcept { return static_cast<T &&>(v); }
template <class T> void swap(T &a, T &b) noexcept
{
    T t = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(t);
}
template <class T, class U = T> T exchange(T &at, U &&v) noexcept
{
    T old = static_cast<T &&>(at);
    at = static_cast<U &&>(v);
    return old;
}
template <class T> T *addressof(T &v) noexcept { return __builtin_addressof(v); }
template <class T> const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class A, class B> struct pair { A first; B second; };
template <class A, class B> pair<A, B> make_pair(A a, B b);
template <class... T> class tuple;
template <class... T> tuple<T...> make_tuple(T... v);

template <class T> class initializer_list {
    const T *at_;
    size_t n_;
public:
    constexpr initializer_list() noexcept : at_(nullptr), n_(0) {}
    constexpr size_t size() const noexcept { return n_; }
    constexpr const T *begin() const noexcept { return at_; }
    constexpr const T *end() const noexcept { return at_ + n_; }
};

class exception {
public:
    exception() noexcept;
    virtual ~exception();
    virtual const char *what() const noexcept;
};
class bad_alloc : public exception {};

template <class T, class A = void> class vector;
template <class T> class allocator;
class string_view {
    const char *at_ = nullptr;
    size_t n_ = 0;
public:
    constexpr string_view() noexcept {}
    constexpr string_view(const char *at) noexcept : at_(at), n_(__builtin_strlen(at)) {}
    constexpr string_view(const char *at, size_t n) noexcept : at_(at), n_(n) {}
    constexpr const char *data() const noexcept { return at_; }
    constexpr size_t size() const noexcept { return n_; }
    constexpr bool empty() const noexcept { return n_ == 0; }
    constexpr char operator[](size_t i) const { return at_[i]; }
    const char *begin() const noexcept;
    const char *end() const noexcept;
    string_view substr(size_t at, size_t n = -1) const;
    size_t find(char c, size_t at = 0) const noexcept;
    static constexpr size_t npos = -1;
};
class string {
public:
    string() noexcept;
    string(const char *text);
    string(const char *text, size_t n);
    string(size_t n, char c);
    string(const string &);
    string(string &&) noexcept;
    ~string();
    string &operator=(const string &);
    string &operator=(string &&) noexcept;
    string &operator=(const char *);
    string &operator+=(const string &);
    string &operator+=(const char *);
    string &append(const char *text);
    const char *c_str() const noexcept;
    char *data() noexcept;
    const char *data() const noexcept;
    size_t size() const noexcept;
    size_t length() const noexcept;
    bool empty() const noexcept;
    void clear() noexcept;
    void resize(size_t n);
    void reserve(size_t n);
    void push_back(char c);
    char &operator[](size_t i);
    char *begin() noexcept;
    char *end() noexcept;
    operator string_view() const noexcept;
    static constexpr size_t npos = -1;
};
string operator+(const string &, const string &);
bool operator==(const string &, const string &) noexcept;
bool operator!=(const string &, const string &) noexcept;
string to_string(int v);
string to_string(unsigned long v);

class logic_error : public exception {
public:
    explicit logic_error(const string &what);
    explicit logic_error(const char *what);
};
class invalid_argument : public logic_error { public: using logic_error::logic_error; };
class out_of_range : public logic_error { public: using logic_error::logic_error; };
class length_error : public logic_error { public: using logic_error::logic_error; };
class runtime_error : public exception {
public:
    explicit runtime_error(const string &what);
    explicit runtime_error(const char *what);
};
class system_error : public runtime_error { public: using runtime_error::runtime_error; };

template <class T, class A> class vector {
public:
    using value_type = T; using iterator = T *; using const_iterator = const T *;
    vector() noexcept;
    explicit vector(size_t n);
    vector(size_t n, const T &v);
    vector(initializer_list<T> list);
    template <class I> vector(I from, I to);
    vector(const vector &);
    vector(vector &&) noexcept;
    ~vector();
    vector &operator=(const vector &);
    vector &operator=(vector &&) noexcept;
    T &operator[](size_t i) noexcept;
    const T &operator[](size_t i) const noexcept;
    T &at(size_t i);
    T &front() noexcept;
    T &back() noexcept;
    const T &back() const noexcept;
    T *data() noexcept;
    const T *data() const noexcept;
    T *begin() noexcept;
    T *end() noexcept;
    const T *begin() const noexcept;
    const T *end() const noexcept;
    size_t size() const noexcept;
    size_t capacity() const noexcept;
    bool empty() const noexcept;
    void clear() noexcept;
    void push_back(const T &v);
    void push_back(T &&v);
    template <class... Args> T &emplace_back(Args &&...args);
    void pop_back() noexcept;
    void resize(size_t n);
    void resize(size_t n, const T &v);
    void reserve(size_t n);
    template <class I> void assign(I from, I to);
    void assign(size_t n, const T &v);
    iterator erase(const_iterator at);
    iterator insert(const_iterator at, const T &v);
    void swap(vector &other) noexcept;
};
template <class T, size_t N> struct array {
    T at_[N];
    T &operator[](size_t i) noexcept { return at_[i]; }
    const T &operator[](size_t i) const noexcept { return at_[i]; }
    T *begin() noexcept { return at_; }
    T *end() noexcept { return at_ + N; }
    T *data() noexcept { return at_; }
    constexpr size_t size() const noexcept { return N; }
};
template <class T> class deque : public vector<T> {
public:
    using vector<T>::vector;
    void push_front(const T &v);
    void pop_front() noexcept;
};
template <class T> class list : public deque<T> {};
template <class T> class queue {
public:
    void push(const T &v);
    T &front() noexcept;
    void pop() noexcept;
    bool empty() const noexcept;
    size_t size() const noexcept;
};
template <class T> class stack : public queue<T> { public: T &top() noexcept; };
template <class K> class set {
public:
    set() noexcept; set(const set &); ~set();
    pair<K *, bool> insert(const K &k);
    size_t erase(const K &k);
    size_t count(const K &k) const;
    K *find(const K &k);
    K *begin() noexcept;
    K *end() noexcept;
    void clear() noexcept;
    bool empty() const noexcept;
    size_t size() const noexcept;
};
template <class K> class unordered_set : public set<K> {};
template <class K, class V> class map {
public:
    map() noexcept; map(const map &); ~map();
    V &operator[](const K &k);
    pair<K, V> *find(const K &k);
    pair<K, V> *begin() noexcept;
    pair<K, V> *end() noexcept;
    V &at(const K &k);
    size_t erase(const K &k);
    pair<K, V> *erase(pair<K, V> *at);
    size_t count(const K &k) const;
    template <class... Args> pair<pair<K, V> *, bool> emplace(Args &&...args);
    void clear() noexcept;
    bool empty() const noexcept;
    size_t size() const noexcept;
};
template <class K, class V> class unordered_map : public map<K, V> {};

template <class T> struct default_delete {
    void operator()(T *p) const noexcept { delete p; }
};
template <class T> struct default_delete<T[]> {
    void operator()(T *p) const noexcept { delete[] p; }
};
template <class T, class D = default_delete<T>> class unique_ptr {
public:
    using element_type = typename remove_extent<T>::type;
    using pointer = element_type *;
    constexpr unique_ptr() noexcept {}
    constexpr unique_ptr(nullptr_t) noexcept {}
    explicit unique_ptr(pointer p) noexcept : p_(p) {}
    unique_ptr(pointer p, D d) noexcept : p_(p), d_(d) {}
    unique_ptr(unique_ptr &&o) noexcept : p_(o.p_), d_(o.d_) { o.p_ = nullptr; }
    template <class U, class E> unique_ptr(unique_ptr<U, E> &&o) noexcept : p_(o.release()) {}
    unique_ptr(const unique_ptr &) = delete;
    ~unique_ptr() { if (p_) d_(p_); }
    unique_ptr &operator=(unique_ptr &&o) noexcept { reset(o.release()); return *this; }
    unique_ptr &operator=(nullptr_t) noexcept { reset(); return *this; }
    unique_ptr &operator=(const unique_ptr &) = delete;
    pointer get() const noexcept { return p_; }
    pointer operator->() const noexcept { return p_; }
    element_type &operator*() const noexcept { return *p_; }
    element_type &operator[](size_t i) const noexcept { return p_[i]; }
    explicit operator bool() const noexcept { return p_ != nullptr; }
    pointer release() noexcept { pointer p = p_; p_ = nullptr; return p; }
    void reset(pointer p = nullptr) noexcept { pointer old = p_; p_ = p; if (old) d_(old); }
    D &get_deleter() noexcept { return d_; }
private:
    pointer p_ = nullptr;
    D d_{};
};
template <class T, class... Args> unique_ptr<T> make_unique(Args &&...args);
template <class T> class shared_ptr {
public:
    shared_ptr() noexcept; shared_ptr(nullptr_t) noexcept; shared_ptr(const shared_ptr &) noexcept;
    template <class U> explicit shared_ptr(U *p);
    template <class U, class D> shared_ptr(U *p, D d);
    template <class U, class D> shared_ptr(unique_ptr<U, D> &&p);
    ~shared_ptr();
    shared_ptr &operator=(const shared_ptr &) noexcept;
    T *get() const noexcept;
    T *operator->() const noexcept;
    T &operator*() const noexcept;
    explicit operator bool() const noexcept;
    void reset() noexcept;
    template <class U, class D> void reset(U *p, D d);
    long use_count() const noexcept;
};
template <class T> class weak_ptr { public: shared_ptr<T> lock() const noexcept; };
template <class T, class... Args> shared_ptr<T> make_shared(Args &&...args);

template <class F> class function;
template <class R, class... Args> class function<R(Args...)> {
public:
    function() noexcept; function(nullptr_t) noexcept; function(const function &); ~function();
    template <class F> function(F f);
    R operator()(Args... args) const;
    explicit operator bool() const noexcept;
};
template <class T> class optional {
public:
    optional() noexcept; optional(const T &v); ~optional();
    explicit operator bool() const noexcept;
    bool has_value() const noexcept;
    T &operator*() noexcept; T *operator->() noexcept; T &value();
    void reset() noexcept;
};

enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release,
                    memory_order_acq_rel, memory_order_seq_cst };
template <class T> class atomic {
public:
    constexpr atomic() noexcept; constexpr atomic(T v) noexcept : v_(v) {}
    T load(memory_order o = memory_order_seq_cst) const noexcept;
    void store(T v, memory_order o = memory_order_seq_cst) noexcept;
    T exchange(T v, memory_order o = memory_order_seq_cst) noexcept;
    bool compare_exchange_weak(T &old, T v, memory_order a = memory_order_seq_cst,
                               memory_order b = memory_order_seq_cst) noexcept;
    bool compare_exchange_strong(T &old, T v, memory_order a = memory_order_seq_cst,
                                 memory_order b = memory_order_seq_cst) noexcept;
    T fetch_add(T v, memory_order o = memory_order_seq_cst) noexcept;
    T fetch_sub(T v, memory_order o = memory_order_seq_cst) noexcept;
    operator T() const noexcept;
    T operator=(T v) noexcept;
    T operator++() noexcept; T operator--() noexcept; T operator++(int) noexcept; T operator--(int) noexcept;
private:
    T v_;
};
class mutex {
public:
    mutex() noexcept; ~mutex();
    void lock(); void unlock() noexcept; bool try_lock() noexcept;
};
class recursive_mutex : public mutex {};
class shared_mutex : public mutex {};
template <class M = mutex> class lock_guard { public: explicit lock_guard(M &m) noexcept; ~lock_guard(); };
template <class M = mutex> class unique_lock {
public:
    explicit unique_lock(M &m) noexcept; ~unique_lock();
    void lock(); void unlock() noexcept;
};
template <class M = mutex> class scoped_lock { public: explicit scoped_lock(M &m) noexcept; ~scoped_lock(); };
class condition_variable {
public:
    void wait(unique_lock<mutex> &l); template <class P> void wait(unique_lock<mutex> &l, P p);
    void notify_one() noexcept; void notify_all() noexcept;
};
class thread {
public:
    thread() noexcept; thread(thread &&) noexcept; ~thread();
    template <class F, class... Args> explicit thread(F f, Args... args);
    void join(); void detach(); bool joinable() const noexcept;
};

class ostream { public: ostream &operator<<(ostream &(*f)(ostream &)) noexcept; ostream &flush() noexcept; };
template <class T> ostream &operator<<(ostream &out, const T &v) noexcept;
ostream &endl(ostream &out) noexcept;
extern ostream cout, cerr, clog;
class ostringstream : public ostream { public: string str() const; };
class stringstream : public ostringstream {};
class ofstream : public ostream { public: explicit ofstream(const string &path); ~ofstream(); };
class istream {
public:
    istream &read(char *to, ptrdiff_t n) noexcept;
    explicit operator bool() const noexcept;
};
class ifstream : public istream { public: explicit ifstream(const string &path); ~ifstream(); };

template <class I> void sort(I from, I to);
template <class I, class F> void sort(I from, I to, F less);
template <class I, class T> void fill(I from, I to, const T &v) noexcept;
template <class I, class N, class T> I fill_n(I from, N n, const T &v) noexcept;
template <class I, class O> O copy(I from, I to, O out) noexcept;
template <class I, class N, class O> O copy_n(I from, N n, O out) noexcept;
template <class I, class T> I find(I from, I to, const T &v);
template <class I, class F> I find_if(I from, I to, F f);
template <class I, class F> F for_each(I from, I to, F f);
template <class I, class T> T accumulate(I from, I to, T start);
template <class I, class T> void iota(I from, I to, T start) noexcept;
template <class T> struct numeric_limits {
    static constexpr T max() noexcept { return T(~0ull >> 1); }
    static constexpr T min() noexcept { return T(0); }
};
}  // namespace std

inline void *operator new(size_t, void *at) noexcept { return at; }
void *operator new(size_t n, const std::nothrow_t &) noexcept;
void *operator new[](size_t n, const std::nothrow_t &) noexcept;
#endif
