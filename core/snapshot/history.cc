#include "core/snapshot/history.h"

#include <algorithm>

namespace memprof {
namespace {

bool IsAllowed(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte != 0x7f && c != '/' && c != '@';
}

}  // namespace

bool IsMomentName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxMomentNameBytes &&
         std::all_of(name.begin(), name.end(), IsAllowed);
}

std::string MomentName(std::string_view written, const std::vector<NamedMoment>& taken) {
  constexpr size_t kRoomForNumber = 4;
  std::string name(written.substr(0, kMaxMomentNameBytes - kRoomForNumber));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !IsAllowed(c); }, '_');
  if (name.empty()) name = "_";
  std::string unique = name;
  const auto is_taken = [&] {
    return unique == "peak" || unique == "end" ||
           std::any_of(taken.begin(), taken.end(),
                       [&](const NamedMoment& other) { return other.name == unique; });
  };
  for (int number = 2; is_taken(); ++number) unique = name + "." + std::to_string(number);
  return unique;
}

void AddChange(LiveHistory& history, uint32_t moment, const Count& live) {
  if (!history.empty() && history.back().moment == moment) history.pop_back();
  const Count before = history.empty() ? Count() : history.back().live;
  if (live != before) history.push_back({moment, live});
}

Count LiveAt(const LiveHistory& history, uint32_t moment) {
  const auto after =
      std::upper_bound(history.begin(), history.end(), moment,
                       [](uint32_t m, const LiveChange& change) { return m < change.moment; });
  return after == history.begin() ? Count() : (after - 1)->live;
}

LiveHistory SumOf(const LiveHistory& a, const LiveHistory& b) {
  LiveHistory sum;
  sum.reserve(a.size() + b.size());
  Count live_a, live_b;
  for (auto at_a = a.begin(), at_b = b.begin(); at_a != a.end() || at_b != b.end();) {
    const bool take_a = at_b == b.end() || (at_a != a.end() && at_a->moment <= at_b->moment);
    const LiveChange& change = take_a ? *at_a++ : *at_b++;
    (take_a ? live_a : live_b) = change.live;
    Count both = live_a;
    both += live_b;
    AddChange(sum, change.moment, both);
  }
  return sum;
}

LiveHistory InOrder(const LiveHistory& history, const std::vector<uint32_t>& moved) {
  if (history.empty() || std::is_sorted(moved.begin(), moved.end())) return history;
  std::vector<Count> live(moved.size());
  for (uint32_t i = 0; i < moved.size(); ++i) live[moved[i]] = LiveAt(history, i);
  LiveHistory ordered;
  for (uint32_t i = 0; i < live.size(); ++i) AddChange(ordered, i, live[i]);
  return ordered;
}

LiveHistory EverySecond(const LiveHistory& history, size_t moments) {
  LiveHistory kept;
  for (const LiveChange& change : history) {
    const uint32_t moment = change.moment / 2 + change.moment % 2;
    if (moment < (moments + 1) / 2) AddChange(kept, moment, change.live);
  }
  return kept;
}

}  // namespace memprof
