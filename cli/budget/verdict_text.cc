#include "cli/budget/verdict_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/snapshot/sampling.h"
#include "core/units.h"

namespace memprof {
namespace {

uint64_t Whole(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(std::llround(value)); }

// "25.2 MiB (+5% on the baseline's 24.0 MiB)".
std::string LimitText(const LimitVerdict& verdict, bool exact) {
  const Unit unit = verdict.limit->kind->unit;
  const auto format = exact ? FormatValueExact : FormatValue;
  std::string most = format(verdict.most, unit);
  if (!verdict.against_baseline) return most;
  std::string increments = verdict.limit->bound.text;
  if (const size_t and_at = increments.find(" and "); and_at != std::string::npos) {
    increments = increments.substr(and_at + 5);
  }
  return fmt::format("{} ({} on the baseline's {})", most, increments,
                     format(*verdict.baseline, unit));
}

std::string OverText(const LimitVerdict& verdict) {
  const Unit unit = verdict.limit->kind->unit;
  const double over = verdict.value - verdict.most;
  if (verdict.most == 0) {
    return fmt::format("{}, and the limit is {}", ValueText(verdict), LimitText(verdict, false));
  }
  const std::string part = fmt::format(" ({:.1f}%)", 100 * over / verdict.most);
  // Values that look the same when rounded are printed to the byte.
  const bool exact = FormatValue(verdict.value, unit) == FormatValue(verdict.most, unit);
  return fmt::format("{}, {}{} over the limit of {}",
                     exact && verdict.standard_error == 0 ? FormatValueExact(verdict.value, unit)
                                                          : ValueText(verdict),
                     FormatValue(over, unit), part, LimitText(verdict, exact));
}

std::string UncertaintyText(const LimitVerdict& verdict) {
  if (verdict.standard_error != 0) return "not surely over";
  return fmt::format("known to within {}, not surely over",
                     FormatValue(verdict.bound, verdict.limit->kind->unit));
}

}  // namespace

std::string ValueText(const LimitVerdict& verdict) {
  const Unit unit = verdict.limit->kind->unit;
  if (verdict.standard_error == 0) return FormatValue(verdict.value, unit);
  const uint64_t value = Whole(verdict.value);
  const uint64_t error = Whole(verdict.standard_error);
  switch (unit) {
    case Unit::kCount:
      return "≈ " + FormatCountWithError(value, error);
    case Unit::kPercent:
      return fmt::format("≈ {:.1f} ± {:.1f}%", verdict.value, verdict.standard_error);
    case Unit::kBytesPerHour:
      return "≈ " + FormatBytesWithError(value, error) + "/h";
    case Unit::kBytes:
      break;
  }
  return "≈ " + FormatBytesWithError(value, error);
}

std::string VerdictText(const LimitVerdict& verdict) {
  switch (verdict.standing) {
    case Standing::kNotJudged:
      return "not judged: " + verdict.why_not_judged;
    case Standing::kOver:
      return OverText(verdict);
    case Standing::kWithin:
      break;
  }
  if (verdict.uncertain) {
    return fmt::format("{}, {} the limit of {}", ValueText(verdict), UncertaintyText(verdict),
                       LimitText(verdict, false));
  }
  return fmt::format("{} of at most {}", ValueText(verdict), LimitText(verdict, false));
}

}  // namespace memprof
