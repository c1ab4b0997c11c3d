#include "aggregator/state/counting.h"

namespace memprof {
namespace {

constinit std::atomic<CountingMode> never{CountingMode::kNone};

constinit std::atomic<uint32_t> stops{0};
constinit std::atomic<bool> unseen_frees{false};

// The value of `counting` if nothing is unusual.
constinit std::atomic<CountingMode> usual{CountingMode::kNone};

CountingMode Wanted() {
  const CountingMode mode = usual.load(std::memory_order_relaxed);
  const bool samples = mode == CountingMode::kSamples;
  if (stops.load(std::memory_order_seq_cst) != 0) {
    return samples ? CountingMode::kStoppedSamples : CountingMode::kStoppedAll;
  }
  const bool unusual = watching_scopes.load(std::memory_order_seq_cst) != 0 || unseen_frees.load();
  if (!samples && unusual) return CountingMode::kAllUnusual;
  return mode;
}

void Apply() {
  CountingMode now = counting->load(std::memory_order_seq_cst);
  CountingMode none = CountingMode::kNone;
  if (now == CountingMode::kNone) return;
  usual.compare_exchange_strong(none, now, std::memory_order_relaxed);
  // Repeats until the word is right after it was set.
  while (now != CountingMode::kNone && now != Wanted()) {
    if (counting->compare_exchange_strong(now, Wanted(), std::memory_order_seq_cst)) {
      now = counting->load(std::memory_order_seq_cst);
    }
  }
}

}  // namespace

constinit std::atomic<CountingMode>* counting = &never;

bool CountsAllUnusually() {
  const auto all = [](CountingMode mode) {
    return mode == CountingMode::kAll || mode == CountingMode::kAllUnusual;
  };
  const CountingMode mode = CurrentMode();
  if (mode != CountingMode::kNone) return all(mode);
  return StartTracker() && all(CurrentMode());
}

constinit std::atomic<uint32_t> watching_scopes{0};

void ChangeWatching(int32_t by) {
  // The usual mode has to be known before the first change.
  Apply();
  watching_scopes.fetch_add(static_cast<uint32_t>(by), std::memory_order_seq_cst);
  Apply();
}

uint32_t ChangeStops(int32_t by) {
  Apply();
  uint32_t now = stops.load(std::memory_order_relaxed);
  uint32_t next;
  do {
    next = by < 0 && now == 0 ? 0 : now + static_cast<uint32_t>(by);
  } while (!stops.compare_exchange_weak(now, next, std::memory_order_seq_cst));
  Apply();
  return next;
}

void LookForUnseenFrees() {
  if (LooksForUnseenFrees()) return;
  Apply();
  unseen_frees.store(true);
  Apply();
}
bool LooksForUnseenFrees() { return unseen_frees.load(std::memory_order_relaxed); }

void RestartCountingMode() {
  unseen_frees.store(false);
  watching_scopes.store(0, std::memory_order_seq_cst);
  Apply();
}

bool CountingStopped() { return stops.load(std::memory_order_relaxed) != 0; }

}  // namespace memprof
