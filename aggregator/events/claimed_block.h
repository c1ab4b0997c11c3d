// ClaimedBlock: a block that was taken out of the live map and whose event is not decided yet
// (realloc).
#pragma once

#include <cstdint>

namespace memprof {

struct ClaimedBlock {
  // 0: it is none of ours; else its fork_generation (inherited_heap.h), less than ours if it is
  // from before a fork
  uint32_t known;
  uint64_t size;  // for an unknown block: UnseenSize (unseen_blocks.h)
  uint32_t cell;
};

}  // namespace memprof
