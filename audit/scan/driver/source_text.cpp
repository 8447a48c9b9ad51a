// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/source_text.hpp"

#include "scan/driver/suppression.hpp"

#include <fstream>
#include <iterator>

namespace pinwarden::scan {

const std::vector<std::string>& SourceText::lines_of(const std::string& file) {
    const auto [place, fresh] = files_.try_emplace(file);
    if (fresh) place->second = split_lines(text_of(file));
    return place->second;
}

std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace pinwarden::scan
