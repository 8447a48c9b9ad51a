// SPDX-License-Identifier: Apache-2.0
#include <command/train/matrix.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

using namespace pinwarden::command;

namespace {

/// Small whole numbers, whose sums and products are exact.
std::vector<float> numbers(std::size_t count, int seed) {
    std::vector<float> result(count);
    for (std::size_t i = 0; i < count; ++i) {
        result[i] = static_cast<float>((static_cast<int>(i) * 7 + seed) % 11 - 5);
    }
    return result;
}

}  // namespace

TEST_CASE("A product is added element by element, whatever the inner size") {
    const auto inner = static_cast<std::size_t>(GENERATE(range(0, 10)));
    constexpr std::size_t rows = 3;
    constexpr std::size_t columns = 5;
    const auto a = numbers(rows * inner, 1);
    const auto b = numbers(inner * columns, 4);
    const auto before = numbers(rows * columns, 9);
    auto sum = before;
    add_product<float>(a, b, sum, rows, inner, columns);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            float wanted = before[row * columns + column];
            for (std::size_t k = 0; k < inner; ++k) wanted += a[row * inner + k] * b[k * columns + column];
            CHECK(sum[row * columns + column] == wanted);
        }
    }
}

TEST_CASE("A transpose exchanges rows and columns") {
    const std::vector<float> matrix = {1, 2, 3, 4, 5, 6};
    CHECK(transposed<float>(matrix, 2, 3) == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("Rows are added up column by column") {
    std::vector<float> sum = {100, 200, 300};
    add_rows<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, sum, 2, 3);
    CHECK(sum == std::vector<float>{105, 207, 309});
}

TEST_CASE("A row is written into every row") {
    std::vector<float> matrix(6, -1.0F);
    fill_rows<float>(std::vector<float>{7, 8}, matrix, 3);
    CHECK(matrix == std::vector<float>{7, 8, 7, 8, 7, 8});
}
