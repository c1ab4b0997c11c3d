// Aligns histories, so that they can be summed. Each source has its own time, counted from its
// start, in intervals whose lengths are powers of two.
//
//   interval k of length I   [k I, (k + 1) I)
//   its sample               the last one before its end, however old; nothing before the first
//                            sample, and after the last one its value
//
// So Align(Align(x, I), J) is Align(x, J) for J ≥ I, and aligning commutes with summing: a sum is
// the same to the byte in whatever order and groups it is made. A sample's time is the last
// millisecond of its interval.
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/snapshot/history.h"

namespace memprof {

// The smallest power of two that is at least interval_ms and divides the time up to last_ms into at
// most `most` intervals. Pre: most >= 2, last_ms < 2^63.
uint64_t AlignedInterval(uint64_t interval_ms, uint64_t last_ms, size_t most);

// Pre: the interval is a power of two, at least the timeline's own.
Timeline Align(const Timeline& timeline, uint64_t interval_ms);
// Pre: both are aligned to one interval. RSS is the sum of the known ones.
Timeline SumOf(const Timeline& a, const Timeline& b);

struct AlignedMoments {
  Moments moments;
  std::vector<uint32_t> moved;  // the new index of each old moment; ascending
};
AlignedMoments Align(const Moments& moments, uint64_t interval_ms);
Moments SumOf(const Moments& a, const Moments& b);
// A site's history after its moments were aligned.
LiveHistory Moved(const LiveHistory& history, const std::vector<uint32_t>& moved);

}  // namespace memprof
