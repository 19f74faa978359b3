#pragma once

/// \file
/// A directory of one test.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace support {

/// A fresh directory, removed at the end.
struct scratch {
    std::filesystem::path path;

    explicit scratch(std::string const& name)
        : path{std::filesystem::temp_directory_path() / ("muster-" + name + "-" + std::to_string(getpid()))} {
        std::filesystem::remove_all(path);
        std::filesystem::create_directories(path);
    }
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }

    /// Writes a file. Returns its path.
    std::string write(std::string const& name, std::string_view text) const {
        std::ofstream{path / name, std::ios::binary} << text;
        return (path / name).string();
    }
};

} // namespace support
