// JemallocProfile: a heap profile as jemalloc dumps it (prof.dump, prof_final), format heap_v2:
//
//   heap_v2/524288                            one sample in so many bytes, on average
//     t*: 88: 20176 [493: 627083]             all stacks (not read: the stacks' sum is the total)
//   @ 0x7f6bd88a2630 0x55625b1b9169           return addresses, innermost first
//     t*: 43: 4816 [43: 4816]                 all threads: sampled blocks and bytes that are live
//     t0: 43: 4816 [43: 4816]                 [and that ever were, with prof_accum]
//   MAPPED_LIBRARIES:
//   5634a8c50000-5634a8cf5000 r-xp 00008000 fe:00 1194 /usr/bin/x      /proc/PID/maps
//
// A block of s bytes is sampled with the probability 1 − e^(−s/B). What a stack's samples stand for
// follows from their mean, as in jemalloc's own jeprof; jemalloc (opt.prof_unbias) writes counts
// for which that is without bias. Bytes are what blocks have, not what was asked for.
//
// Thread safety: pure. Failure: kUnreadable and one line with a line number for what isn't in that
// format. Foreign bytes: nothing is trusted; memory is some times the text's.
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
  Count total;                      // likewise; at least `live`
};
inline constexpr size_t kMaxJemallocFrames = 1024;

struct JemallocMapping {
  uint64_t start;
  uint64_t end;  // above start
  uint64_t file_offset;
  std::string path;  // absolute, or the kernel's ("[vdso]")
};

struct JemallocProfile {
  uint64_t sample_bytes = 0;  // at least 1
  std::vector<JemallocStack> stacks;
  std::vector<JemallocMapping> mappings;  // those with a name
};

Result<JemallocProfile> ReadJemallocProfile(std::string_view text);

}  // namespace memprof
