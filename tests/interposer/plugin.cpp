// A library that is opened for itself alone, with a function whose name begins as the driver's do.

#include <dlfcn.h>

extern "C" {
[[gnu::visibility("default")]] int curl_of_plugin() { return 7; }

/// What the whole scope of whoever asks has of that name.
[[gnu::visibility("default")]] void* plugin_finds() {
    auto* volatile found =
        dlsym(RTLD_DEFAULT, "curl_of_plugin"); // no tail call: that would be somebody else's question
    return found;
}
}
