// Unseen: something that happened in a run but is in no figure of its capture, as far as it is
// known.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memprof {

struct Unseen {
  enum class Kind : uint8_t {
    kAllocator = 1,  // `name` ("jemalloc", "malloc": one of its own, "valgrind", or one of those
                     // below) is inside `program`, where nothing can come between: what it gave
                     // out isn't counted
    kExecuted = 2,   // `program` executed `name` in its place, and no tracker came from that
    kProcesses = 3,  // `count` processes ran `name` without a tracker
    kChildren = 4,   // `count` forked children found no room to count in
  };
  Kind kind = Kind::kAllocator;
  std::string name;
  std::string program;  // empty: the processes' parents, whichever they are
  uint64_t count = 1;
  friend bool operator==(const Unseen&, const Unseen&) = default;
};

// Names of kAllocator for libc's malloc, if the program opened modules with RTLD_DEEPBIND, or by
// dlmopen in a namespace of their own. They read well in the line that older readers print for an
// allocator.
inline constexpr char kOfDeepBoundModules[] = "module opened with RTLD_DEEPBIND";
inline constexpr char kOfOtherNamespaces[] = "libc in another namespace of the loader";

// Appends `more`, ordered by kind, name and program; adds the counts of equal ones.
void AddUnseen(std::vector<Unseen>& all, const std::vector<Unseen>& more);

// One line each, for people: "bash has a jemalloc inside: …".
std::vector<std::string> UnseenLines(const std::vector<Unseen>& unseen);

}  // namespace memprof
