// InterpreterMemory: reads the interpreter's structures, and nothing that can't be read.
//
// The memory may be half written (a signal handler interrupted the interpreter), or no Python
// object at all. So every address is checked before it is read. In the process that is a look at a
// table of pages that were readable a moment ago (own_memory.h); tests and fuzzers bring memory of
// their own.
//
// Thread safety: that of `copy`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memprof {

struct InterpreterMemory {
  // Copies bytes; false: they can't be read.
  bool (*copy)(const void* context, uintptr_t address, void* to, size_t bytes);
  const void* context = nullptr;

  bool Copy(uintptr_t address, void* to, size_t bytes) const {
    return copy(context, address, to, bytes);
  }
  template <typename Value>
  bool Load(uintptr_t address, Value& value) const {
    return copy(context, address, &value, sizeof value);
  }
};

}  // namespace memprof
