// The hooks by the name of the function that they stand for, and what each stands before: the
// program's own definition.
//
// Thread safety: FindRealFunctions by one thread, before the rest.
#pragma once

#include <cstddef>

namespace memprof {

struct NamedHook {
  const char* name;
  void* hook;
  void* real;  // nullptr: nobody has it, or it isn't the same for all modules
};

// Looks up what the hooks stand before, now. False: there is no malloc.
bool FindRealFunctions();

// nullptr: not hooked.
const NamedHook* FindHook(const char* name);
bool IsHook(const void* function);

}  // namespace memprof
