#include "aggregator/python/eval_code.h"

#include "aggregator/unwind/readable_stack.h"
#include "aggregator/unwind/unwind_data.h"

namespace memprof {
namespace {

// Jumps into a part that was moved out are many; a few bytes may look like one by chance.
constexpr uint32_t kEnoughJumps = 8;

struct Candidate {
  ByteRange code;
  uint32_t jumps = 0;
};

template <uint32_t kCount>
void Count(Candidate (&candidates)[kCount], uintptr_t target) {
  for (Candidate& candidate : candidates) {
    if (candidate.code.Contains(target)) {
      ++candidate.jumps;
      return;
    }
  }
  for (Candidate& candidate : candidates) {
    if (candidate.code.size() != 0) continue;
    if (FindFunction(target, candidate.code)) candidate.jumps = 1;
    return;
  }
}

}  // namespace

bool EvalCode::Find(uintptr_t pc) {
  if (!FindFunction(pc, hot_)) return false;
  Candidate candidates[64];
  // 0f 80 … 0f 8f: jumps on a condition, with a distance of 4 bytes.
  for (uintptr_t at = hot_.begin; at + 6 <= hot_.end; ++at) {
    const auto* code = reinterpret_cast<const unsigned char*>(at);
    if (code[0] != 0x0f || (code[1] & 0xf0) != 0x80) continue;
    int32_t distance;
    __builtin_memcpy(&distance, code + 2, sizeof distance);
    const uintptr_t target = at + 6 + static_cast<uintptr_t>(int64_t{distance});
    if (!hot_.Contains(target)) Count(candidates, target);
  }
  const Candidate* most = &candidates[0];
  for (const Candidate& candidate : candidates) {
    if (candidate.jumps > most->jumps) most = &candidate;
  }
  if (most->jumps >= kEnoughJumps) cold_ = most->code;
  return true;
}

}  // namespace memprof
