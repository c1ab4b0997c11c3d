// The parts of a function's name as demanglers write it.
//
//   void json::(anonymous namespace)::Parser<int>::Read(char const*) const
//        json::(anonymous namespace)::Parser<int>::Read            QualifiedName
//        json   json::(anonymous namespace)   …::Parser<int>       EnclosingScopes
//
// Thread safety: pure. Memory: the results are parts of the argument. An odd name gives odd parts,
// never a failure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace memprof {

// The name without return type, parameters and qualifiers.
std::string_view QualifiedName(std::string_view function);

// The index after the bracket that closes the one at `at`; the end if none does.
size_t BehindBrackets(std::string_view text, size_t at);

// The namespaces, classes and functions that enclose a qualified name, outermost first.
std::vector<std::string_view> EnclosingScopes(std::string_view qualified_name);

}  // namespace memprof
