// LimitKind: what a budget can limit. One line of a table each.
//
//   key                    of a match                         of the program
//   peak                   live when the program's heap       the same of all
//                          was highest
//   peak_share             that in percent of the program's   -
//   leaked                 never freed, bytes; without what the runtime keeps by design
//   leaked_allocations     the same, blocks
//   allocated              all that was allocated, bytes
//   allocations            the same, blocks
//   temporary              of that freed soon (run --temporary), bytes
//   temporary_allocations  the same, blocks
//   growth_per_hour        what grows all the time, bytes an hour (growth_measure.h); likewise
//   peak_rss               -                                  VmHWM, the tracker's part included
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/budget/bound.h"
#include "core/budget/measurement.h"
#include "core/figure.h"
#include "core/profile/profile.h"

namespace memprof {

// The sites of a profile that a limit is about.
struct Measured {
  const Profile& profile;
  std::span<const uint32_t> sites;  // indices
};

enum class LimitScope : uint8_t { kBoth, kProgram, kMatch };

struct LimitKind {
  const char* key;  // in the budget file and in reports
  Unit unit;
  LimitScope scope;
  // The figure whose rows explain it, and whether by blocks rather than by bytes.
  Figure figure;
  bool by_allocations;
  // A verdict of leaks: without what is kept by design, and suppressions are of it unless they say
  // otherwise.
  bool leak;
  Measurement (*measure)(const Measured& measured, const LimitKind& kind);
};

std::span<const LimitKind> LimitKinds();
const LimitKind* FindLimitKind(std::string_view key);

}  // namespace memprof
