// What a block is, by the functions of the standard library that allocated it: a node of a map, the
// array of a vector.
//
// Thread safety: pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace memprof {

// "std::map<int, Session> node", "std::vector<char>", "std::unordered_map<int, int> buckets",
// "Session" of std::make_unique<Session>. `functions` are those between the allocator and the place
// that is named, innermost first. Empty: none of them says it.
std::string ContainerName(std::span<const std::string_view> functions);

// The type as people write it: without allocators, comparisons and hashes that are the usual ones, with
// std::string for its template, and of at most 120 bytes.
std::string ShortTypeName(std::string_view type);

}  // namespace memprof
