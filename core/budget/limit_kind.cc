#include "core/budget/limit_kind.h"

#include <algorithm>

#include "core/budget/growth_measure.h"
#include "core/budget/lost_measure.h"

namespace memprof {
namespace {

Measurement SumOfFigure(const Measured& measured, const LimitKind& kind) {
  Measurement sum;
  for (const uint32_t index : measured.sites) {
    const ProfileSite& site = measured.profile.sites[index];
    const Count& count = FigureOf(site, kind.figure);
    const Variance& variance = FigureOf(site.variances, kind.figure);
    sum.value += static_cast<double>(kind.by_allocations ? count.allocations : count.bytes);
    sum.variance += kind.by_allocations ? variance.allocations : variance.bytes;
  }
  return sum;
}

// The bound of a merge's figure that sums figures from different times. The true figure was at
// least the largest of the sources'.
double BoundOfSum(const Profile& profile, uint64_t (*of)(const SnapshotSource& source)) {
  double sum = 0, largest = 0;
  for (const SnapshotSource& source : profile.sources) {
    sum += static_cast<double>(of(source));
    largest = std::max(largest, static_cast<double>(of(source)));
  }
  return sum - largest;
}

// Rows at the peak may be off by the capture's bound, all together.
Measurement Peak(const Measured& measured, const LimitKind& kind) {
  Measurement peak = SumOfFigure(measured, kind);
  peak.bound = static_cast<double>(measured.profile.tracker.peak_bound_bytes) +
               BoundOfSum(measured.profile, [](const auto& source) { return source.peak.bytes; });
  return peak;
}

// Multiplies by 100 first: the quotient of whole numbers is then rounded once, as a written
// percentage is, so that a share may equal its limit.
Measurement PeakShare(const Measured& measured, const LimitKind& kind) {
  const auto whole = static_cast<double>(measured.profile.peak.bytes);
  if (whole == 0) return {};
  Measurement share = Peak(measured, kind);
  share.value = 100 * share.value / whole;
  share.bound = 100 * share.bound / whole;
  share.variance *= 100 / whole * (100 / whole);
  return share;
}

Measurement Temporary(const Measured& measured, const LimitKind& kind) {
  Measurement sum = SumOfFigure(measured, kind);
  if (measured.profile.tracker.temporary_threshold == 0) {
    sum.why_not = "the capture doesn't say what was temporary; profile again with this memprof";
  }
  return sum;
}

Measurement GrowthPerHour(const Measured& measured, const LimitKind&) {
  return MeasureGrowth(measured.profile, measured.sites);
}

Measurement Lost(const Measured& measured, const LimitKind&) {
  return MeasureLost(measured.profile, measured.sites);
}

Measurement PeakRss(const Measured& measured, const LimitKind&) {
  Measurement rss;
  rss.value = static_cast<double>(measured.profile.program.rss_peak_bytes);
  rss.bound = BoundOfSum(measured.profile,
                         [](const auto& source) { return source.program.rss_peak_bytes; });
  if (rss.value == 0) rss.why_not = "the capture doesn't know the process's memory";
  return rss;
}

constexpr LimitKind kLimitKinds[] = {
    {"peak", Unit::kBytes, LimitScope::kBoth, Figure::kPeak, false, false, Peak},
    {"peak_share", Unit::kPercent, LimitScope::kMatch, Figure::kPeak, false, false, PeakShare},
    {"leaked", Unit::kBytes, LimitScope::kBoth, Figure::kLeaked, false, true, SumOfFigure},
    {"leaked_allocations", Unit::kCount, LimitScope::kBoth, Figure::kLeaked, true, true,
     SumOfFigure},
    {"allocated", Unit::kBytes, LimitScope::kBoth, Figure::kTotal, false, false, SumOfFigure},
    {"allocations", Unit::kCount, LimitScope::kBoth, Figure::kTotal, true, false, SumOfFigure},
    {"temporary", Unit::kBytes, LimitScope::kBoth, Figure::kTemporary, false, false, Temporary},
    {"temporary_allocations", Unit::kCount, LimitScope::kBoth, Figure::kTemporary, true, false,
     Temporary},
    {"lost", Unit::kBytes, LimitScope::kBoth, Figure::kLeaked, false, true, Lost, LimitRows::kLost},
    {"growth_per_hour", Unit::kBytesPerHour, LimitScope::kBoth, Figure::kLeaked, false, true,
     GrowthPerHour, LimitRows::kSlopes},
    {"peak_rss", Unit::kBytes, LimitScope::kProgram, Figure::kPeak, false, false, PeakRss},
};

}  // namespace

std::span<const LimitKind> LimitKinds() { return kLimitKinds; }

const LimitKind* FindLimitKind(std::string_view key) {
  for (const LimitKind& kind : kLimitKinds) {
    if (kind.key == key) return &kind;
  }
  return nullptr;
}

}  // namespace memprof
