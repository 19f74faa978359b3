#pragma once

/// \file
/// Kubernetes objects from files, directories and standard input.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/ext/detail/document.hpp>
#include <muster/ext/detail/text_guard.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/input.hpp>
#include <muster/ext/object.hpp>

namespace muster::ext {

/// How much one file may hold, in bytes.
inline constexpr std::size_t max_file_size = std::size_t{256} << 20U;

namespace detail {

/// Refuses what is no Kubernetes object: apiVersion, kind and, unless it is a list, metadata.name.
inline void check_object(object const& read, bool is_list) {
    field const root{read};
    if (!read.value.is_object()) {
        root.fail("expected a map with apiVersion, kind and metadata, found " + in_words(read.value));
    }
    for (std::string_view const key : {"apiVersion", "kind"}) {
        if (!root[key]) root.fail(std::string{key} + " is missing; expected a Kubernetes object");
        if (root[key].as_string().empty()) root[key].fail("expected a name, found an empty string");
    }
    if (is_list) return;
    auto const name = root["metadata"]["name"];
    if (!name) root.fail(std::string{"metadata.name is missing; expected the "} + std::string{read.kind()} + "'s name");
    if (name.as_string().empty()) name.fail("expected a name, found an empty string");
    auto const ns = root["metadata"]["namespace"];
    if (ns) static_cast<void>(ns.as_string());
}

/// Adds `read`, or the items of the list that it is, to `objects`.
inline void expand(built read, std::shared_ptr<source const> const& text, std::size_t document, std::string const& base,
                   std::vector<object>& objects) {
    object whole{std::move(read.value), text, document, base, read.lines.line};
    bool const is_list = whole.kind().ends_with("List") && (whole.kind() == "List" || whole.value.contains("items"));
    check_object(whole, is_list);
    if (!is_list) {
        objects.push_back(std::move(whole));
        return;
    }
    static_cast<void>(field{whole}["items"].items()); // refuses what is no list

    // Items of a typed list, as the API server writes it, go without the kind that its name gives.
    auto const item_kind = std::string{whole.kind().substr(0, whole.kind().size() - 4)};
    auto const api_version = std::string{whole.api_version()};
    auto items = std::move(whole.value["items"]);
    for (std::size_t i = 0; i != items.size(); ++i) {
        built item{std::move(items[i])};
        item.lines.line = read.lines.line;
        if (auto const at = read.lines.members.find("items"); at != read.lines.members.end()) {
            if (i < at->second.items.size()) item.lines = std::move(at->second.items[i]);
        }
        if (item.value.is_object() && !item_kind.empty() && !item.value.contains("kind")) {
            item.value["kind"] = item_kind;
            item.value.emplace("apiVersion", api_version);
        }
        expand(std::move(item), text, document, base + "/items/" + std::to_string(i), objects);
    }
}

} // namespace detail

/// The objects of a text, lists taken apart, in the order written; none if it holds only blanks and comments.
///
/// Shape:  each object shares the text, which stays in memory as long as one of them.
/// Errors: `bad_input` naming `file` and the line: broken text, nesting past 200 levels, keys set twice, documents
///         that are no Kubernetes objects.
/// Source: kubectl's reading of files (cli-runtime, resource.Builder; sigs.k8s.io/yaml). Stricter: keys set twice.
[[nodiscard]] inline std::vector<object> read_text(std::string text, std::string const& file,
                                                   text_format format = text_format::guess) {
    text = detail::guarded(std::move(text), file);
    constexpr std::size_t lines_of_items = 2;
    auto list = detail::parse_documents(text, file, format, lines_of_items);
    auto const shared = std::make_shared<detail::source const>(std::move(text), file, list.format);
    std::vector<object> objects;
    for (std::size_t i = 0; i != list.documents.size(); ++i) {
        detail::expand(std::move(list.documents[i]), shared, i, "", objects);
    }
    return objects;
}

/// What a stream holds.
///
/// Errors: `bad_input` for more than `limit` bytes and for a stream that breaks.
[[nodiscard]] inline std::string text_of_stream(std::istream& in, std::string const& file,
                                                std::size_t limit = max_file_size) {
    constexpr std::size_t block = std::size_t{1} << 20U;
    std::string text;
    while (in && text.size() <= limit) {
        std::size_t const had = text.size();
        text.resize(had + block);
        in.read(text.data() + had, static_cast<std::streamsize>(block));
        text.resize(had + static_cast<std::size_t>(in.gcount()));
    }
    if (text.size() > limit) {
        throw bad_input{file, 0, "", "it holds more than " + std::to_string(limit) + " bytes; split it"};
    }
    if (in.bad()) throw bad_input{file, 0, "", "can't read it: " + std::generic_category().message(errno)};
    return text;
}

/// What a file holds.
///
/// Errors: as `text_of_stream`; also a file that is missing, can't be opened or is a directory.
[[nodiscard]] inline std::string text_of_file(std::string const& file, std::size_t limit = max_file_size) {
    std::error_code failure;
    if (std::filesystem::is_directory(file, failure)) {
        throw bad_input{file, 0, "", "it is a directory; expected a file"};
    }
    errno = 0;
    std::ifstream in{file, std::ios::binary};
    if (!in) throw bad_input{file, 0, "", "can't open it: " + std::generic_category().message(errno)};
    return text_of_stream(in, file, limit);
}

/// The objects of a stream, such as standard input. Errors: as `text_of_stream` and `read_text`.
[[nodiscard]] inline std::vector<object> read_stream(std::istream& in, std::string const& file,
                                                     text_format format = text_format::guess,
                                                     std::size_t limit = max_file_size) {
    return read_text(text_of_stream(in, file, limit), file, format);
}

/// The objects of a file; one that ends in .json is read as JSON only. Errors: as `text_of_file` and `read_text`.
[[nodiscard]] inline std::vector<object> read_file(std::string const& file, std::size_t limit = max_file_size) {
    return read_text(text_of_file(file, limit), file, file.ends_with(".json") ? text_format::json : text_format::guess);
}

/// The objects of a directory's *.yaml, *.yml and *.json files, in byte order of their names, not of its folders'.
///
/// Errors: as `read_file`; also a directory without any such file.
[[nodiscard]] inline std::vector<object> read_directory(std::string const& directory,
                                                        std::size_t limit = max_file_size) {
    std::vector<std::string> names;
    std::error_code failure;
    for (std::filesystem::directory_iterator at{directory, failure}, end; !failure && at != end;
         at.increment(failure)) {
        auto const extension = at->path().extension();
        bool const known = extension == ".yaml" || extension == ".yml" || extension == ".json";
        std::error_code ignored;
        if (known && !at->is_directory(ignored)) names.push_back(at->path().filename().string());
    }
    if (failure) throw bad_input{directory, 0, "", "can't read the directory: " + failure.message()};
    if (names.empty()) throw bad_input{directory, 0, "", "the directory has no *.yaml, *.yml or *.json file"};
    std::sort(names.begin(), names.end());
    std::vector<object> objects;
    for (auto const& name : names) {
        auto read = read_file((std::filesystem::path{directory} / name).string(), limit);
        objects.insert(objects.end(), std::move_iterator{read.begin()}, std::move_iterator{read.end()});
    }
    return objects;
}

/// The objects of standard input, called `<stdin>` in messages; the stream is a parameter.
[[nodiscard]] inline std::vector<object> read_stdin(std::istream& in) { return read_stream(in, "<stdin>"); }

} // namespace muster::ext
