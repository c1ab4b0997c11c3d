#include "aggregator/hooks/sampled_hook.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

std::atomic<uint32_t> mode{0};
std::string events;  // what the hooks told the tracker

}  // namespace

// In the tracker's place.
constinit std::atomic<uint32_t>* counting = &mode;
void ForgetLeftScope(uintptr_t) {}
bool StartTracker() { return false; }
void OnFree(void*) { events += "free "; }
void OnSampleFree(void*) { events += "sample-free "; }
void OnSampled(void*, size_t, const Caller&) { events += "sampled "; }
ClaimedBlock ClaimForRealloc(void*) {
  events += "claim ";
  return {true, 8, 1};
}
ClaimedBlock ClaimSample(void*) {
  events += "claim-sample ";
  return {true, 8, 1};
}
void OnReallocFreed(const ClaimedBlock&, void*) { events += "gone "; }
void OnReallocFailed(const ClaimedBlock&, void*) { events += "kept "; }
void OnSampleReallocated(const ClaimedBlock&, void*, size_t, bool, const Caller&) {
  events += "sample-reallocated ";
}
void OnSampleReallocFreed(const ClaimedBlock&) { events += "sample-gone "; }
void OnSampleReallocFailed(const ClaimedBlock&, void*) { events += "sample-kept "; }

namespace {

class SampledHook : public testing::Test {
 protected:
  SampledHook() : filter_(samples_filter) {
    samples_filter = nullptr;
    events.clear();
  }
  ~SampledHook() override {
    samples_filter = filter_;
    mode = 0;
  }

  // A hook found that not every event is counted; when it looks again the mode is `now`.
  std::string ReleaseWhile(uint32_t now) {
    mode = now;
    int calls = 0;
    ReleaseSampled(&block_, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
    return events;
  }
  std::string ReallocateWhile(uint32_t now, void* result) {
    mode = now;
    EXPECT_EQ(ReallocateSampled(&block_, 5, false, {}, [&] { return result; }), result);
    return events;
  }

  long block_ = 0;
  SampleFilter* const filter_;
};

TEST_F(SampledHook, BooksAFreeThoughCountingBeganAgainMeanwhile) {
  for (const uint32_t now : {kStoppedAll, kCountsAll, kCountsAllUnusual}) {
    events.clear();
    EXPECT_EQ(ReleaseWhile(now), "free ") << now;
  }
}

TEST_F(SampledHook, TakesAReallocatedBlockOutThoughCountingBeganAgainMeanwhile) {
  for (const uint32_t now : {kStoppedAll, kCountsAll, kCountsAllUnusual}) {
    events.clear();
    EXPECT_EQ(ReallocateWhile(now, &block_), "claim gone ") << now;
    events.clear();
    EXPECT_EQ(ReallocateWhile(now, nullptr), "claim kept ") << now;
  }
}

TEST_F(SampledHook, LooksForSamplesWhereTheProcessSamplesWhateverTheModeIs) {
  static SampleFilter filter;
  samples_filter = &filter;
  filter.Add(reinterpret_cast<uintptr_t>(&block_));
  for (const uint32_t now : {kStoppedSamples, kCountsSamples}) {
    events.clear();
    EXPECT_EQ(ReleaseWhile(now), "sample-free ") << now;
  }
  events.clear();
  EXPECT_EQ(ReallocateWhile(kStoppedSamples, &block_), "claim-sample sample-gone ");
}

TEST_F(SampledHook, TellsTheTrackerNothingWhereNothingIsCounted) {
  EXPECT_EQ(ReleaseWhile(0), "");
  EXPECT_EQ(ReallocateWhile(0, &block_), "");
}

}  // namespace
}  // namespace memprof
