// SPDX-License-Identifier: Apache-2.0
// The words that CUDA and HIP add to C++, as far as the host's side of a file needs them.
#ifndef PINWARDEN_PRELUDE_DEVICE_LANGUAGE_H
#define PINWARDEN_PRELUDE_DEVICE_LANGUAGE_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __CUDA__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#else
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#endif
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define PINWARDEN_VECTOR(name, type)                                    \
    struct name##1 { type x; };                                         \
    struct name##2 { type x, y; };                                      \
    struct name##3 { type x, y, z; };                                   \
    struct name##4 { type x, y, z, w; };
#ifdef __cplusplus
PINWARDEN_VECTOR(char, char)
PINWARDEN_VECTOR(uchar, unsigned char)
PINWARDEN_VECTOR(short, short)
PINWARDEN_VECTOR(ushort, unsigned short)
PINWARDEN_VECTOR(int, int)
PINWARDEN_VECTOR(uint, unsigned)
PINWARDEN_VECTOR(long, long)
PINWARDEN_VECTOR(ulong, unsigned long)
PINWARDEN_VECTOR(float, float)
PINWARDEN_VECTOR(double, double)
struct dim3 {
    unsigned x, y, z;
    constexpr __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) noexcept : x(a), y(b), z(c) {}
};
#endif
#ifdef __CUDA__
extern "C++" {
struct pinwarden_index {
    unsigned x, y, z;
};
extern const pinwarden_index threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
__device__ void __syncthreads() noexcept;
__device__ void __syncwarp(unsigned mask = ~0u) noexcept;
__device__ void __threadfence() noexcept;
__device__ void __threadfence_system() noexcept;
template <class T, class U> __device__ T atomicAdd(T *at, U v) noexcept;
template <class T, class U> __device__ T atomicMax(T *at, U v) noexcept;
template <class T, class U> __device__ T atomicMin(T *at, U v) noexcept;
template <class T, class U> __device__ T atomicExch(T *at, U v) noexcept;
template <class T, class U, class V> __device__ T atomicCAS(T *at, U old, V v) noexcept;
}
#endif
#endif
