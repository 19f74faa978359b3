#pragma once

/// \file
/// Files of lines, plain or gzip.

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <zlib.h>

namespace support {

/// The lines of a file that are not blank.
[[nodiscard]] inline std::vector<std::string> lines_of(std::string const& path) {
    std::unique_ptr<gzFile_s, int (*)(gzFile)> const file{gzopen(path.c_str(), "rb"), gzclose};
    if (!file) throw std::runtime_error{path + ": can't be opened"};
    std::string text;
    std::array<char, 1 << 16> block{};
    for (int got = 0; (got = gzread(file.get(), block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(got));
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        auto const end = std::min(text.find('\n', at), text.size());
        if (auto line = text.substr(at, end - at); line.find_first_not_of(" \t\r") != std::string::npos)
            lines.push_back(std::move(line));
        at = end + 1;
    }
    return lines;
}

} // namespace support
