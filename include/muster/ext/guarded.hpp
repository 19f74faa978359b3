#pragma once

/// \file
/// The boundary to callers that know no exceptions.

#include <cxxabi.h>

namespace muster::ext {

/// What an operation answers, or `failed` where it throws. A thread that is cancelled meanwhile goes on to its end:
/// that unwinds as well, and mustn't be stopped.
template <class Result, class Operation>
[[nodiscard]] Result guarded(Result failed, Operation operation) {
    try {
        return operation();
    } catch (abi::__forced_unwind const&) {
        throw;
    } catch (...) {
        return failed;
    }
}

} // namespace muster::ext
