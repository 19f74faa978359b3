#include <muster/ext/loaded_library.hpp>

#include <dlfcn.h>

#include <string_view>

#include <doctest/doctest.h>

TEST_CASE("loaded library: finds in the C library what the linker finds there, and nothing that isn't") {
    struct found {
        void* malloc = nullptr;
        void* dlsym = nullptr;
        void* nothing = nullptr;
        int libraries = 0;
    } out;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            auto& f = *static_cast<found*>(to);
            muster::ext::loaded_library const in{*info};
            (void)in.find("no such symbol"); // no library is harmed by the question
            if (std::string_view{info->dlpi_name}.find("/libc.so") == std::string_view::npos) return 0;
            ++f.libraries;
            f.malloc = in.find("malloc");
            f.dlsym = in.find("dlsym");
            f.nothing = in.find("muster_no_such_function");
            return 0;
        },
        &out);
    CHECK(out.libraries == 1);
    CHECK(out.dlsym == dlsym(RTLD_DEFAULT, "dlsym"));
    CHECK(out.malloc != nullptr); // a sanitizer may stand before it
    CHECK(out.nothing == nullptr);
}
