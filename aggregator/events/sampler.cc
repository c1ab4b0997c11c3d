#include "aggregator/events/sampler.h"

#include <atomic>

#include "aggregator/basics/plain_floats.h"
#include "aggregator/basics/private_memory.h"

namespace memprof {

constinit SampleFilter* samples_filter = nullptr;

namespace {

constinit uint64_t mean_bytes = 0;
constinit std::atomic<uint64_t> sequence{0};

constexpr unsigned kSizeBits = 45;  // two bits less than the live map keeps

uint64_t NextRandom() {
  return MixedBits(sequence.fetch_add(0x9e3779b97f4a7c15ull, std::memory_order_relaxed));
}

// At least 1: P(distance > n) = e^(−n / mean_bytes) for whole n.
int64_t DrawDistance() {
  const uint64_t random = NextRandom();
  const PlainFloats plain;
  const double u = 1 - UnitInterval(Pinned(random));  // never 0
  const double distance = NegativeLog(u) * static_cast<double>(mean_bytes);
  const auto whole = static_cast<uint64_t>(distance);
  const uint64_t up = whole + (static_cast<double>(whole) < distance ? 1 : 0);
  return static_cast<int64_t>(Pinned(up != 0 ? up : 1));
}

}  // namespace

bool StartSampler(const TrackerOptions& options) {
  if (options.sample_bytes == 0) return true;
  void* memory = ReserveMemory(sizeof(SampleFilter));
  if (memory == nullptr || !CommitMemory(memory, sizeof(SampleFilter))) return false;
  samples_filter = static_cast<SampleFilter*>(memory);
  mean_bytes = options.sample_bytes;
  sequence.store(options.sample_seed, std::memory_order_relaxed);
  return true;
}

void ReseedSampler(uint64_t by) { sequence.fetch_add(MixedBits(by), std::memory_order_relaxed); }

bool DecideSample(int64_t step) {
  const bool first = thread_state.countdown + step <= 0;
  const int64_t distance = DrawDistance();
  if (first && distance > step) {
    thread_state.countdown = distance - step;
    return false;
  }
  thread_state.countdown = first ? DrawDistance() : distance;
  return true;
}

uint64_t KeptSize(uint64_t size) {
  if (size >> kSizeBits != 0) return ~uint64_t{0};
  const uint64_t random = NextRandom();
  const PlainFloats plain;
  const uint64_t up = DrawRounding(Pinned(size), UnitInterval(Pinned(random)), mean_bytes);
  return Pinned(size | up << kSizeBits);
}

SampleWeight WeightOfKept(uint64_t kept_size) {
  const PlainFloats plain;
  const uint64_t kept = Pinned(kept_size);
  const SampleWeight weight = WeightOf(kept & ((uint64_t{1} << kSizeBits) - 1),
                                       static_cast<uint32_t>(kept >> kSizeBits), mean_bytes);
  return {Pinned(weight.bytes), Pinned(weight.blocks)};
}

}  // namespace memprof
