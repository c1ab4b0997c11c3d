#include "core/budget/judge.h"

#include <algorithm>
#include <cmath>

namespace memprof {
namespace {

constexpr double kStandardErrors = 2;

// One of the two profiles, with what the suppressions match in it.
class Side {
 public:
  Side(const Profile& profile, const std::vector<SuppressionVerdict>& suppressions)
      : profile_(profile) {
    for (const SuppressionVerdict& verdict : suppressions) {
      if (verdict.expired) continue;
      suppressed_.emplace_back(verdict.suppression, MatchingSites(profile, *verdict.suppression));
    }
  }

  const Profile& profile() const { return profile_; }

  // The sites of the rule that a limit applies to; the suppressed ones are apart.
  struct Sites {
    std::vector<uint32_t> counted, suppressed;
  };
  Sites Of(const std::vector<bool>& matching, const LimitKind& kind) const {
    Sites sites;
    for (uint32_t i = 0; i < profile_.sites.size(); ++i) {
      if (!matching[i]) continue;
      if (kind.leak && profile_.sites[i].runtime_reason != nullptr) continue;
      (IsSuppressed(i, kind) ? sites.suppressed : sites.counted).push_back(i);
    }
    return sites;
  }

 private:
  bool IsSuppressed(uint32_t site, const LimitKind& kind) const {
    return std::any_of(suppressed_.begin(), suppressed_.end(), [&](const auto& entry) {
      const auto& kinds = entry.first->kinds;
      return entry.second[site] && std::find(kinds.begin(), kinds.end(), &kind) != kinds.end();
    });
  }

  const Profile& profile_;
  std::vector<std::pair<const Suppression*, std::vector<bool>>> suppressed_;
};

// 0 in other units: a share has no floor.
double NoiseFloor(const BudgetRule& rule, Unit unit) {
  if (unit == Unit::kBytes || unit == Unit::kBytesPerHour) return rule.noise_floor;
  return unit == Unit::kCount ? rule.noise_floor_allocations : 0;
}

// Whole bytes and blocks, independent of how the percentage's product was rounded. Shares and rates
// are as exact as a double.
double Allowed(double most, Unit unit) {
  constexpr double kRounding = 1e-6, kPart = 1e-12;
  const bool is_whole = unit == Unit::kBytes || unit == Unit::kCount;
  return is_whole ? std::floor(most + kRounding) : most * (1 + kPart);
}

void Decide(LimitVerdict& verdict, double uncertainty) {
  const double over = verdict.value - verdict.most;
  if (over <= 0) {
    verdict.standing = Standing::kWithin;
  } else if (over <= uncertainty) {
    verdict.standing = Standing::kWithin;
    verdict.uncertain = true;
  } else {
    verdict.standing = Standing::kOver;
  }
}

// How steeply the limit rises with the baseline's value: an error of the baseline times this is an
// error of the limit.
double Slope(const std::vector<Increment>& increments, double value, double noise_floor) {
  const double largest = LargestIncrement(increments, value, noise_floor);
  for (const Increment& increment : increments) {
    if (value * increment.percent / 100 + increment.amount == largest) {
      return 1 + increment.percent / 100;
    }
  }
  return 1;
}

struct Matching {
  std::vector<bool> now, before;
};

LimitVerdict JudgeLimit(const BudgetRule& rule, const Limit& limit, const Side& now,
                        const Side* before, const Matching& matching) {
  const LimitKind& kind = *limit.kind;
  LimitVerdict verdict;
  verdict.rule = &rule;
  verdict.limit = &limit;
  Side::Sites sites = now.Of(matching.now, kind);
  const Measurement value = kind.measure({now.profile(), sites.counted}, kind);
  verdict.value = value.value;
  verdict.bound = value.bound;
  verdict.standard_error = std::sqrt(value.variance);
  if (!sites.suppressed.empty()) {
    verdict.suppressed = kind.measure({now.profile(), sites.suppressed}, kind).value;
  }
  if (CountsLeakedBlocks(kind)) {
    std::vector<uint32_t> running;
    for (const uint32_t site : sites.counted) {
      if (now.profile().sites[site].of_running_threads) running.push_back(site);
    }
    verdict.of_running_threads = kind.measure({now.profile(), running}, kind).value;
  }
  verdict.sites = std::move(sites.counted);
  double variance = value.variance;
  double bound = value.bound;
  verdict.why_not_judged = value.why_not;

  const Bound& allowed = limit.bound;
  if (before != nullptr) {
    Side::Sites baseline_sites = before->Of(matching.before, kind);
    Measurement old = kind.measure({before->profile(), baseline_sites.counted}, kind);
    if (IsOfNames(rule.pattern) && LacksNames(before->profile())) {
      old.why_not = "it lacks the names of the program's functions, which the rule is about";
    }
    verdict.baseline_sites = std::move(baseline_sites.counted);
    if (old.why_not.empty()) verdict.baseline = old.value;
    if (!allowed.increments.empty() && old.why_not.empty()) {
      const double floor = NoiseFloor(rule, kind.unit);
      const double most =
          Allowed(old.value + LargestIncrement(allowed.increments, old.value, floor), kind.unit);
      verdict.against_baseline = !allowed.most || most < *allowed.most;
      if (verdict.against_baseline) {
        const double slope = Slope(allowed.increments, old.value, floor);
        verdict.most = most;
        variance += slope * slope * old.variance;
        bound += slope * old.bound;
      }
    }
    if (!allowed.increments.empty() && !allowed.most && verdict.why_not_judged.empty() &&
        !old.why_not.empty()) {
      verdict.why_not_judged = "of the baseline: " + old.why_not;
    }
  } else if (!allowed.most && verdict.why_not_judged.empty()) {
    verdict.why_not_judged = "it is against a baseline, and none was given (--baseline)";
  }
  if (!verdict.against_baseline && allowed.most) verdict.most = *allowed.most;
  if (!verdict.why_not_judged.empty()) {
    verdict.standing = Standing::kNotJudged;
    return verdict;
  }
  Decide(verdict, kStandardErrors * std::sqrt(variance) + bound);
  return verdict;
}

bool AnyOf(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

}  // namespace

Judgement Judge(const Budget& budget, const Profile& profile, const Profile* baseline,
                std::chrono::year_month_day today) {
  Judgement judgement;
  for (const Suppression& suppression : budget.suppressions) {
    const bool is_expired = suppression.expires && today > *suppression.expires;
    judgement.suppressions.push_back(
        {&suppression, is_expired, AnyOf(MatchingSites(profile, suppression))});
  }
  const Side now(profile, judgement.suppressions);
  std::optional<Side> before;
  if (baseline != nullptr) before.emplace(*baseline, judgement.suppressions);

  const auto judge = [&](const BudgetRule& rule) {
    Matching matching;
    matching.now = MatchingSites(profile, rule.pattern);
    if (before) matching.before = MatchingSites(*baseline, rule.pattern);
    for (const Limit& limit : rule.limits) {
      judgement.limits.push_back(
          JudgeLimit(rule, limit, now, before ? &*before : nullptr, matching));
    }
    return AnyOf(matching.now);
  };
  judge(budget.program);
  for (const BudgetRule& rule : budget.matches) {
    judgement.matches.push_back({&rule, judge(rule)});
  }
  return judgement;
}

}  // namespace memprof
