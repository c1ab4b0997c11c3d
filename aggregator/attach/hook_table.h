// The hooks by the names of their functions, and for each the program's own definition.
//
// Thread safety: FindRealFunctions by one thread, before the rest.
#pragma once

#include <cstddef>

namespace memprof {

struct NamedHook {
  const char* name;
  void* hook;
  void* real;  // nullptr: nobody has it, or it differs between modules
};

// Looks up the real functions behind the hooks now. False: there is no malloc.
bool FindRealFunctions();

// nullptr: not hooked.
const NamedHook* FindHook(const char* name);
bool IsHook(const void* function);

}  // namespace memprof
