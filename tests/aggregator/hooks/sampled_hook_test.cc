#include "aggregator/hooks/sampled_hook.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

std::atomic<CountingMode> mode{CountingMode::kNone};
std::string events;  // what the hooks told the tracker

}  // namespace

// In the tracker's place.
constinit std::atomic<CountingMode>* counting = &mode;
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
    mode = CountingMode::kNone;
  }

  // A hook found that not every event is counted; at its next look the mode is `now`.
  std::string ReleaseWhile(CountingMode now) {
    mode = now;
    int calls = 0;
    ReleaseSampled(&block_, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
    return events;
  }
  std::string ReallocateWhile(CountingMode now, void* result) {
    mode = now;
    EXPECT_EQ(ReallocateSampled(&block_, 5, false, {}, [&] { return result; }), result);
    return events;
  }

  long block_ = 0;
  SampleFilter* const filter_;
};

TEST_F(SampledHook, BooksAFreeThoughCountingBeganAgainMeanwhile) {
  for (const CountingMode now :
       {CountingMode::kStoppedAll, CountingMode::kAll, CountingMode::kAllUnusual}) {
    events.clear();
    EXPECT_EQ(ReleaseWhile(now), "free ") << static_cast<uint32_t>(now);
  }
}

TEST_F(SampledHook, TakesAReallocatedBlockOutThoughCountingBeganAgainMeanwhile) {
  for (const CountingMode now :
       {CountingMode::kStoppedAll, CountingMode::kAll, CountingMode::kAllUnusual}) {
    events.clear();
    EXPECT_EQ(ReallocateWhile(now, &block_), "claim gone ") << static_cast<uint32_t>(now);
    events.clear();
    EXPECT_EQ(ReallocateWhile(now, nullptr), "claim kept ") << static_cast<uint32_t>(now);
  }
}

TEST_F(SampledHook, LooksForSamplesWhereTheProcessSamplesWhateverTheModeIs) {
  static SampleFilter filter;
  samples_filter = &filter;
  filter.Add(reinterpret_cast<uintptr_t>(&block_));
  for (const CountingMode now : {CountingMode::kStoppedSamples, CountingMode::kSamples}) {
    events.clear();
    EXPECT_EQ(ReleaseWhile(now), "sample-free ") << static_cast<uint32_t>(now);
  }
  events.clear();
  EXPECT_EQ(ReallocateWhile(CountingMode::kStoppedSamples, &block_), "claim-sample sample-gone ");
}

TEST_F(SampledHook, TellsTheTrackerNothingWhereNothingIsCounted) {
  EXPECT_EQ(ReleaseWhile(CountingMode::kNone), "");
  EXPECT_EQ(ReallocateWhile(CountingMode::kNone, &block_), "");
}

}  // namespace
}  // namespace memprof
