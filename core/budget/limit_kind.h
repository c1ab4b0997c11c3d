// LimitKind: the figures that a budget can limit. Each is a line of one table.
//
//   key                    for a match                        for the program
//   peak                   live when the program's heap       the whole peak
//                          was highest
//   peak_share             that in percent of the program's   -
//   leaked                 never freed, bytes; without what the runtime keeps by design
//   leaked_allocations     the same, blocks
//   allocated              all that was allocated, bytes
//   allocations            the same, blocks
//   temporary              the part freed soon (run --temporary), bytes
//   temporary_allocations  the same, blocks
//   lost                   what an inspection found that nothing reaches any more, bytes
//   growth_per_hour        steady growth, bytes an hour (growth_measure.h)
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

// The sites of a profile that a limit applies to.
struct Measured {
  const Profile& profile;
  std::span<const uint32_t> sites;  // indices
};

enum class LimitScope : uint8_t { kBoth, kProgram, kMatch };

// What the rows of the stacks behind an exceeded limit show in its figure's place.
enum class LimitRows : uint8_t { kFigure, kSlopes, kLost };

struct LimitKind {
  const char* key;  // in the budget file and in reports
  Unit unit;
  LimitScope scope;
  // The figure whose rows explain this limit, and whether they are ordered by blocks or by bytes.
  Figure figure;
  bool by_allocations;
  // The limit is a verdict on leaks: it leaves out what is kept by design, and suppressions apply
  // to it unless they name other limits.
  bool leak;
  Measurement (*measure)(const Measured& measured, const LimitKind& kind);
  LimitRows rows = LimitRows::kFigure;
};

// True for the limits on blocks that were never freed: leaked and leaked_allocations.
inline bool CountsLeakedBlocks(const LimitKind& kind) {
  return kind.leak && kind.rows == LimitRows::kFigure;
}

// False for lost: an inspection looks at blocks by their stack alone.
inline bool IsKnownByThread(const LimitKind& kind) { return kind.rows != LimitRows::kLost; }

std::span<const LimitKind> LimitKinds();
const LimitKind* FindLimitKind(std::string_view key);

}  // namespace memprof
