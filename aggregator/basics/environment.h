// Reads the environment without getenv: libc may not be initialised yet, and the program may have a
// getenv of its own.
//
// Thread safety: that of the program, which may change its environment.
#pragma once

namespace memprof {

// The value of a variable; nullptr: there is none. Pre: libc has set its environment.
const char* EnvironmentValue(const char* name);

}  // namespace memprof
