#pragma once

/// \file
/// A Kubernetes object and where it was read.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/document.hpp>

namespace muster::ext {

/// Whether objects of `kind`, of those that muster reads, belong to no namespace.
[[nodiscard]] constexpr bool cluster_scoped(std::string_view kind) noexcept {
    constexpr std::array<std::string_view, 8> kinds{"HyperNode",        "Namespace",     "Node",  "NumaTopology",
                                                    "PersistentVolume", "PriorityClass", "Queue", "StorageClass"};
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// A Kubernetes object as JSON, and where it was read.
///
/// Shape: an object that was read shares its source text with the others of its file; one made in code has none.
class object {
public:
    nlohmann::json value;

    /// An object made in code, or read elsewhere at a line that is known.
    explicit object(nlohmann::json made, std::string file = {}, std::size_t line = 0)
        : value(std::move(made)), file_{std::move(file)}, line_{line} {}

    /// An object at `base`, a JSON pointer into the `document`-th document of `text`.
    object(nlohmann::json read, std::shared_ptr<detail::source const> text, std::size_t document, std::string base,
           std::size_t line)
        : value(std::move(read)), file_{text->file()}, line_{line}, text_{std::move(text)}, document_{document},
          base_{std::move(base)} {}

    [[nodiscard]] std::string const& file() const noexcept { return file_; }
    /// Where the object begins, from 1; 0 if it was made in code.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

    /// Where the value at `pointer` (as `/spec/containers/0`) stands, else the nearest value around it.
    ///
    /// Cost: the first call for a file parses its text once more.
    [[nodiscard]] std::size_t line_of(std::string_view pointer) const {
        if (text_ == nullptr || pointer.empty()) return line_;
        return text_->line(document_, base_ + std::string{pointer});
    }

    /// Whether the member at `pointer` is written as a literal block of YAML, which begins on the next line.
    [[nodiscard]] bool is_block(std::string_view pointer) const {
        return text_ != nullptr && text_->opens_block(line_of(pointer));
    }

    [[nodiscard]] std::string_view kind() const noexcept { return text_at(value, "kind"); }
    [[nodiscard]] std::string_view api_version() const noexcept { return text_at(value, "apiVersion"); }
    [[nodiscard]] std::string_view name() const noexcept { return metadata("name"); }
    /// The namespace; `default` where none is written.
    [[nodiscard]] std::string_view ns() const noexcept {
        auto const written = metadata("namespace");
        return written.empty() ? "default" : written;
    }

    /// `namespace/name`.
    [[nodiscard]] std::string key() const { return std::string{ns()} + "/" + std::string{name()}; }

    /// The object in words: `Pod default/p`, `Node n1`; just the kind where there is no name.
    [[nodiscard]] std::string label() const {
        std::string words{kind()};
        if (name().empty()) return words;
        bool const plain = cluster_scoped(kind()) && metadata("namespace").empty();
        return words.append(" ").append(plain ? std::string{name()} : key());
    }

private:
    [[nodiscard]] static std::string_view text_at(nlohmann::json const& map, char const* key) noexcept {
        if (!map.is_object()) return {};
        auto const member = map.find(key);
        if (member == map.end() || !member->is_string()) return {};
        return member->get_ref<std::string const&>();
    }
    [[nodiscard]] std::string_view metadata(char const* key) const noexcept {
        if (!value.is_object()) return {};
        auto const member = value.find("metadata");
        return member == value.end() ? std::string_view{} : text_at(*member, key);
    }

    std::string file_;
    std::size_t line_;
    std::shared_ptr<detail::source const> text_{};
    std::size_t document_ = 0;
    std::string base_{};
};

} // namespace muster::ext
