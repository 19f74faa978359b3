#pragma once

/// \file
/// Threads that may be cancelled, and mustn't be just now.

#include <pthread.h>

namespace muster::ext {

/// Keeps the thread from being cancelled: for a library that does what its caller didn't ask for.
class uncancelled {
public:
    uncancelled() noexcept { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    uncancelled(uncancelled const&) = delete;
    uncancelled& operator=(uncancelled const&) = delete;
    ~uncancelled() { (void)pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = 0;
};

} // namespace muster::ext
