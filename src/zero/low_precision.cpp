// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/low_precision.hpp>

#include <fmt/format.h>

#include <pinwarden/core/error.hpp>

namespace pinwarden::zero {
namespace {

void require_same_length(std::string_view call, std::size_t from, std::size_t to) {
    if (from != to)
        throw SizeError(fmt::format("{}(from: {}, to: {}): the numbers of elements differ", call, from, to));
}

template <class T>
void widen_elements(gsl::span<const T> from, gsl::span<float> to) {
    require_same_length("widen", from.size(), to.size());
    const T* const source = from.data();
    float* const target = to.data();
    for (std::size_t i = 0; i < to.size(); ++i) target[i] = source[i].to_float();
}

template <class T>
void narrow_elements(gsl::span<const float> from, gsl::span<T> to) {
    require_same_length("narrow", from.size(), to.size());
    const float* const source = from.data();
    T* const target = to.data();
    for (std::size_t i = 0; i < from.size(); ++i) target[i] = T::from_float(source[i]);
}

}  // namespace

void widen(gsl::span<const Bf16> from, gsl::span<float> to) { widen_elements(from, to); }
void widen(gsl::span<const Fp16> from, gsl::span<float> to) { widen_elements(from, to); }
void narrow(gsl::span<const float> from, gsl::span<Bf16> to) { narrow_elements(from, to); }
void narrow(gsl::span<const float> from, gsl::span<Fp16> to) { narrow_elements(from, to); }

}  // namespace pinwarden::zero
