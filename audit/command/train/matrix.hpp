// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The arithmetic on matrices that the character model is made of. Matrices are flat and stored row by row.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gsl/span>

namespace pinwarden::command {

/// Adds the product of `a` (`rows` × `inner`) and `b` (`inner` × `columns`) to `sum` (`rows` × `columns`).
///
/// Whole rows of `b` are added up, four at a time: the innermost loop runs over neighbouring elements without
/// a dependency between them, so that compilers turn it into vector instructions without reordering any sum.
template <typename Real>
void add_product(gsl::span<const Real> a, gsl::span<const Real> b, gsl::span<Real> sum, std::size_t rows,
                 std::size_t inner, std::size_t columns) {
    constexpr std::size_t at_once = 4;
    for (std::size_t row = 0; row < rows; ++row) {
        const Real* const factors = a.data() + row * inner;
        Real* const target = sum.data() + row * columns;
        std::size_t k = 0;
        for (; k + at_once <= inner; k += at_once) {
            const Real f0 = factors[k];
            const Real f1 = factors[k + 1];
            const Real f2 = factors[k + 2];
            const Real f3 = factors[k + 3];
            const Real* const b0 = b.data() + k * columns;
            const Real* const b1 = b0 + columns;
            const Real* const b2 = b1 + columns;
            const Real* const b3 = b2 + columns;
            for (std::size_t column = 0; column < columns; ++column) {
                target[column] += f0 * b0[column] + f1 * b1[column] + f2 * b2[column] + f3 * b3[column];
            }
        }
        for (; k < inner; ++k) {
            const Real factor = factors[k];
            const Real* const line = b.data() + k * columns;
            for (std::size_t column = 0; column < columns; ++column) target[column] += factor * line[column];
        }
    }
}

/// The transpose of `matrix` (`rows` × `columns`).
template <typename Real>
[[nodiscard]] std::vector<Real> transposed(gsl::span<const Real> matrix, std::size_t rows,
                                           std::size_t columns) {
    std::vector<Real> result(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            result[column * rows + row] = matrix[row * columns + column];
        }
    }
    return result;
}

/// Adds to `sum` (`columns` elements) every row of `matrix` (`rows` × `columns`).
template <typename Real>
void add_rows(gsl::span<const Real> matrix, gsl::span<Real> sum, std::size_t rows, std::size_t columns) {
    for (std::size_t row = 0; row < rows; ++row) {
        const Real* const line = matrix.data() + row * columns;
        for (std::size_t column = 0; column < columns; ++column) sum.data()[column] += line[column];
    }
}

/// Writes `row` into each of the `rows` rows of `matrix`.
template <typename Real>
void fill_rows(gsl::span<const Real> row, gsl::span<Real> matrix, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
        std::copy(row.begin(), row.end(), matrix.begin() + static_cast<std::ptrdiff_t>(i * row.size()));
    }
}

}  // namespace pinwarden::command
