// Unseen: what a run did that is in no figure of its capture, as far as somebody knows of it.
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
  std::string program;  // empty: the processes' parents, whoever they are
  uint64_t count = 1;
  friend bool operator==(const Unseen&, const Unseen&) = default;
};

// Names of kAllocator: libc's, for modules that the program opened with RTLD_DEEPBIND, or by
// dlmopen in a namespace of their own. Readable in the line of other allocators, which older
// readers give.
inline constexpr char kOfDeepBoundModules[] = "module opened with RTLD_DEEPBIND";
inline constexpr char kOfOtherNamespaces[] = "libc in another namespace of the loader";

// One after another by kind, name and program; counts of equal ones are added.
void AddUnseen(std::vector<Unseen>& all, const std::vector<Unseen>& more);

// One line each, for people: "bash has a jemalloc inside: …".
std::vector<std::string> UnseenLines(const std::vector<Unseen>& unseen);

}  // namespace memprof
