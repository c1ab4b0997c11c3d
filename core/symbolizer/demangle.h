// Demangles names of functions: C++ (Itanium ABI) and Rust (legacy and v0).
//
// Thread safety: pure. A name that isn't mangled comes back as it is.
#pragma once

#include <string>

namespace memprof {

std::string Demangle(const char* name);

}  // namespace memprof
