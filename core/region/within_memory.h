// WithinMemory: runs some work and turns running out of memory, as under a limit on address space,
// into the work's failure. The memory that the work had taken is given back.
#pragma once

#include <new>
#include <type_traits>

#include "core/result.h"

namespace memprof {

// `work` returns a Result.
template <typename Work>
std::invoke_result_t<Work> WithinMemory(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Fail(ErrorKind::kIo, "out of memory");
  }
}

}  // namespace memprof
