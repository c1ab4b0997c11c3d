#include "cli/supervisor/images/named_moment_taker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/basics/background_work.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint64_t kWholeSecondsFromMs = 10'000;

}  // namespace

NamedMomentTaker::NamedMomentTaker(const RegionPlace& region, steady_clock::time_point start)
    : region_(region), start_(start) {}

NamedMomentTaker::~NamedMomentTaker() {
  if (reading_.valid()) reading_.wait();
}

void NamedMomentTaker::Ask(NamedMomentRequest request) {
  asked_.push_back(std::move(request));
  if (!reading_.valid()) StartReading();
}

void NamedMomentTaker::StartReading() {
  reading_ = InBackground([this]() -> Result<RegionMoment> {
    const auto now = std::chrono::floor<milliseconds>(steady_clock::now() - start_).count();
    return ReadMoment(region_, static_cast<uint64_t>(now));
  });
}

std::vector<NamedMomentTaker::Outcome> NamedMomentTaker::Collect(bool wait) {
  std::vector<Outcome> outcomes;
  while (reading_.valid() &&
         (wait || reading_.wait_for(milliseconds(0)) == std::future_status::ready)) {
    NamedMomentRequest request = std::move(asked_.front());
    asked_.pop_front();
    auto taken = Keep(request, reading_.get());
    outcomes.push_back({std::move(request), std::move(taken)});
    if (!asked_.empty()) StartReading();
  }
  return outcomes;
}

Result<NamedMoment> NamedMomentTaker::Keep(const NamedMomentRequest& request,
                                           Result<RegionMoment> moment) {
  if (!moment) {
    ++left_out_;
    return tl::unexpected<Error>(moment.error());
  }
  if (kept_.size() >= kMaxNamedMoments) {
    ++left_out_;  // this one or an older one
    const auto oldest =
        std::find_if(kept_.begin(), kept_.end(), [](const Kept& kept) { return kept.automatic; });
    if (oldest == kept_.end()) {
      return Fail(ErrorKind::kIo,
                  fmt::format("there are {} snapshots already, which is all that a capture keeps",
                              kMaxNamedMoments));
    }
    kept_.erase(oldest);
  }
  std::vector<NamedMoment> names;
  for (const Kept& kept : kept_) names.push_back({kept.named.name, 0, false});
  const std::string name =
      MomentName(request.name.empty() ? NameOfTime(moment->time_ms) : request.name, names);
  if (!kept_.empty() && *kept_.back().named.moment.sites == *moment->sites) {
    moment->sites = kept_.back().named.moment.sites;
  }
  const NamedMoment taken = {name, moment->time_ms, moment->inexact};
  kept_.push_back({{name, std::move(*moment)}, request.automatic});
  return taken;
}

void NamedMomentTaker::AddTo(RegionHistory& history) const {
  for (const Kept& kept : kept_) {
    history.named.push_back(kept.named);
    history.named.back().automatic = kept.automatic;
  }
  history.named_left_out += left_out_;
}

std::vector<std::string> NamedMomentTaker::Names() const {
  std::vector<std::string> names;
  for (const Kept& kept : kept_) names.push_back(kept.named.name);
  return names;
}

std::string NameOfTime(uint64_t time_ms) {
  if (time_ms >= kWholeSecondsFromMs) time_ms = (time_ms + 500) / 1000 * 1000;
  std::string name;
  for (const auto& [unit, unit_ms] : {std::pair<const char*, uint64_t>{"d", 86'400'000},
                                      {"h", 3'600'000},
                                      {"m", 60'000},
                                      {"s", 1000},
                                      {"ms", 1}}) {
    const uint64_t count = time_ms / unit_ms;
    time_ms %= unit_ms;
    if (count != 0) name += std::to_string(count) + unit;
  }
  return name.empty() ? "0s" : name;
}

}  // namespace memprof
