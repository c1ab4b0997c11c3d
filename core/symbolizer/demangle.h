// Demangles names of functions and types: C++ (Itanium ABI) and Rust (legacy and v0).
//
// Thread safety: pure. A name that isn't mangled comes back as it is.
#pragma once

#include <string>

namespace memprof {

std::string Demangle(const char* name);

// "db::Session" for the name that C++'s type information has, "N2db7SessionE".
std::string DemangleType(const std::string& name);

}  // namespace memprof
