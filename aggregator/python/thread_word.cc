#include "aggregator/python/thread_word.h"

#include <atomic>

#include "aggregator/unwind/readable_stack.h"

namespace memprof {
namespace {

// The part of the thread control block that is searched. glibc keeps the first 32 thread-specific
// values there, each with a number before it that is odd while the key is in use.
constexpr uintptr_t kBegin = 256;
constexpr uintptr_t kEnd = 1408;
constexpr uintptr_t kMostUses = 1 << 20;

constinit std::atomic<uintptr_t> known_distance{0};

}  // namespace

uintptr_t ThreadWordOf(uintptr_t thread_state) {
  const uintptr_t thread = ThreadPointer();
  const uintptr_t known = known_distance.load(std::memory_order_relaxed);
  if (known != 0) return LoadWord(thread + known) == thread_state ? thread + known : 0;
  if (thread_state == 0) return 0;
  uintptr_t found = 0;
  for (uintptr_t at = kBegin; at < kEnd; at += sizeof(uintptr_t)) {
    if (LoadWord(thread + at) != thread_state) continue;
    const uintptr_t uses = LoadWord(thread + at - sizeof(uintptr_t));
    if (uses % 2 == 0 || uses > kMostUses) continue;
    if (found != 0) return 0;  // not for sure
    found = at;
  }
  if (found == 0) return 0;
  known_distance.store(found, std::memory_order_relaxed);
  return thread + found;
}

}  // namespace memprof
