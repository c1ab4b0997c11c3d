#include "core/history.h"

#include <algorithm>

namespace memprof {
namespace {

// Appends a change, unless it is none.
void Change(LiveHistory& history, uint32_t moment, const Count& live) {
  if (!history.empty() && history.back().moment == moment) history.pop_back();
  const Count before = history.empty() ? Count() : history.back().live;
  if (live != before) history.push_back({moment, live});
}

}  // namespace

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
    Change(sum, change.moment, both);
  }
  return sum;
}

LiveHistory EverySecond(const LiveHistory& history, size_t moments) {
  LiveHistory kept;
  for (const LiveChange& change : history) {
    const uint32_t moment = change.moment / 2 + change.moment % 2;
    if (moment < (moments + 1) / 2) Change(kept, moment, change.live);
  }
  return kept;
}

}  // namespace memprof
