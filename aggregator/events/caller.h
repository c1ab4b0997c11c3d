// Caller: the caller of the allocator, and the function that it called.
//
// MEMPROF_CALLER and MEMPROF_RETURN read the frame of the function that they are used in: they must
// be evaluated in the hook itself.
#pragma once

#include <cstdint>

#include "aggregator/unwind/stack_capture.h"
#include "core/protocol/allocator_kind.h"

#define MEMPROF_CALLER()                                                               \
  (::memprof::StartRegisters{                                                          \
      reinterpret_cast<uintptr_t>(__builtin_return_address(0)),                        \
      reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + 2 * sizeof(uintptr_t), \
      *static_cast<uintptr_t*>(__builtin_frame_address(0))})

// The address to which the hook returns.
#define MEMPROF_RETURN() (reinterpret_cast<uintptr_t>(__builtin_return_address(0)))

namespace memprof {

struct Caller {
  StartRegisters registers;
  AllocatorKind kind;
};

}  // namespace memprof
