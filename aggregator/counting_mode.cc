#include "aggregator/counting_mode.h"

#include "aggregator/tracker.h"

namespace memprof {
namespace {

constinit std::atomic<uint32_t> stops{0};
constinit std::atomic<bool> unseen_frees{false};

// What `counting` is with nothing unusual, from any of its values.
constinit std::atomic<uint32_t> usual{0};

uint32_t Wanted() {
  const uint32_t mode = usual.load(std::memory_order_relaxed);
  const bool samples = mode == kCountsSamples;
  if (stops.load(std::memory_order_seq_cst) != 0) return samples ? kStoppedSamples : kStoppedAll;
  const bool unusual = watching_scopes.load(std::memory_order_seq_cst) != 0 || unseen_frees.load();
  if (!samples && unusual) return kCountsAllUnusual;
  return mode;
}

void Apply() {
  uint32_t now = counting->load(std::memory_order_seq_cst);
  uint32_t none = 0;
  if (now == 0) return;
  usual.compare_exchange_strong(none, now, std::memory_order_relaxed);
  // Again until it is what it should be after it was set.
  while (now != 0 && now != Wanted()) {
    if (counting->compare_exchange_strong(now, Wanted(), std::memory_order_seq_cst)) {
      now = counting->load(std::memory_order_seq_cst);
    }
  }
}

}  // namespace

constinit std::atomic<uint32_t> watching_scopes{0};

void ChangeWatching(int32_t by) {
  // The usual mode is known before the first change.
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
