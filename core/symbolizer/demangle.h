// Names of functions as their authors wrote them: C++ (Itanium ABI) and Rust (legacy and v0).
//
// Thread safety: pure. What is no mangled name comes back as it is.
#pragma once

#include <string>

namespace memprof {

std::string Demangle(const char* name);

}  // namespace memprof
