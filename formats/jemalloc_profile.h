// JemallocProfile: a heap profile as jemalloc dumps it (prof.dump, prof_final), in the format
// heap_v2:
//
//   heap_v2/524288                            mean distance between samples in bytes
//     t*: 88: 20176 [493: 627083]             all stacks (not read: the stacks' sum is the total)
//   @ 0x7f6bd88a2630 0x55625b1b9169           return addresses, innermost first
//     t*: 43: 4816 [43: 4816]                 all threads: sampled blocks and bytes that are live
//     t0: 43: 4816 [43: 4816]                 [and that ever were, with prof_accum]
//   MAPPED_LIBRARIES:
//   5634a8c50000-5634a8cf5000 r-xp 00008000 fe:00 1194 /usr/bin/x      /proc/PID/maps
//
// A block of s bytes is sampled with the probability 1 − e^(−s/B). The estimate for a stack follows
// from the mean size of its samples, as in jemalloc's own jeprof. jemalloc (opt.prof_unbias) writes
// counts for which this estimate is unbiased. Bytes are the blocks' usable sizes, not the requested
// sizes.
//
// Thread safety: pure. Failure: kUnreadable for any other format, in one line with a line number.
// The text is foreign: nothing is trusted; memory is at most a few times the text's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/count.h"
#include "core/result.h"

namespace memprof {

struct JemallocStack {
  std::vector<uint64_t> addresses;  // innermost first; at most kMaxJemallocFrames
  Count live;                       // estimates
  Count total;                      // estimates; at least `live`
};
inline constexpr size_t kMaxJemallocFrames = 1024;

struct JemallocMapping {
  uint64_t start;
  uint64_t end;  // above start
  uint64_t file_offset;
  std::string path;  // absolute, or the kernel's name ("[vdso]")
};

struct JemallocProfile {
  uint64_t sample_bytes = 0;  // at least 1
  std::vector<JemallocStack> stacks;
  std::vector<JemallocMapping> mappings;  // those with a name
};

Result<JemallocProfile> ReadJemallocProfile(std::string_view text);

}  // namespace memprof
