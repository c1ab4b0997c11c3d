// Reads of a region while a thread counts into it, with the tracker's own booking. The rows at
// every peak are known, so a read's claims about itself can be checked.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "aggregator/tables/booking.h"
#include "aggregator/tables/peak_tracker.h"
#include "core/region/region_reader.h"
#include "core/region/region_view.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

constexpr uint64_t kStep = 8;
constexpr uint64_t kBurst = 1000;
constexpr uint64_t kPcGrowing = 0x10000;  // sorts before the other: row 0
constexpr uint64_t kPcBursting = 0x20000;

// Two sites: one grows by kStep a round, the other takes kBurst and gives it back. Every maximum is
// in a burst: the rows at a peak of P are P − kBurst and kBurst.
class Writer {
 public:
  explicit Writer(MadeRegion& region)
      : growing_(region.NewCell(region.Site(region.Node(0, kPcGrowing)))),
        bursting_(region.NewCell(region.Site(region.Node(0, kPcBursting)))),
        tracker_(&region.header().peak) {}
  ~Writer() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void Start() {
    thread_ = std::thread([this] {
      while (!stop_) {
        Round();
        rounds_.fetch_add(1);
      }
    });
    while (rounds_ < 10) std::this_thread::yield();
  }
  void Round() {
    Allocate(growing_, grow_by_);
    Allocate(bursting_, kBurst);
    Free(bursting_, kBurst);
  }
  void Allocate(Cell& cell, uint64_t bytes) {
    Book(cell, tracker_.Record(bytes, 0), {bytes, 1, 0, 0});
  }
  void Free(Cell& cell, uint64_t bytes) { Book(cell, tracker_.Record(0, bytes), {0, 0, bytes, 1}); }

  Cell& growing_;
  Cell& bursting_;
  uint64_t grow_by_ = kStep;

 private:
  PeakTracker tracker_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> rounds_{0};
  std::thread thread_;
};

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

class RegionRace : public testing::TestWithParam<MadeRegion::Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RegionRace,
                         testing::Values(MadeRegion::Kind::kMemory, MadeRegion::Kind::kFile),
                         [](const auto& kind) {
                           return kind.param == MadeRegion::Kind::kMemory ? "InMemory" : "InAFile";
                         });

TEST_P(RegionRace, RowsAtARisingPeakAreWithinTheStatedBound) {
  MadeRegion region(GetParam());
  Writer writer(region);
  writer.Start();
  for (int i = 0; i < 300; ++i) {
    const Result<Snapshot> s = ReadRegion(region.fd(), {});
    ASSERT_TRUE(s.has_value());
    ASSERT_EQ(s->sites.size(), 2u);
    const uint64_t off = Distance(s->sites[0].peak.bytes, s->tracker.counter_peak_bytes - kBurst) +
                         Distance(s->sites[1].peak.bytes, kBurst);
    ASSERT_LE(off, s->tracker.peak_bound_bytes) << (s->tracker.inexact_read ? "inexact" : "exact");
  }
}

TEST_P(RegionRace, EventsBelowThePeakDoNotMakeItInexact) {
  MadeRegion region(GetParam());
  Writer writer(region);
  writer.Allocate(writer.growing_, 5 * kBurst);
  writer.Free(writer.growing_, 3 * kBurst);
  writer.grow_by_ = 0;
  writer.Start();
  for (int i = 0; i < 300; ++i) {
    const Result<Snapshot> s = ReadRegion(region.fd(), {});
    ASSERT_TRUE(s.has_value());
    ASSERT_FALSE(s->tracker.inexact_read);
    ASSERT_EQ(s->tracker.peak_bound_bytes, 0u);
    ASSERT_EQ(s->sites[0].peak.bytes, 5 * kBurst);
    ASSERT_EQ(s->sites[1].peak.bytes, 0u);
  }
}

// One slot allocates blocks and another frees them, at most kInFlight at a time, far below the peak:
// generations end all the time, and each account alone has much more than is live.
class Exchange {
 public:
  static constexpr int64_t kHeld = 32 << 20;
  static constexpr int64_t kDistance = 4 << 20;
  static constexpr int64_t kMostInFlight = 64 * 4096;

  explicit Exchange(MadeRegion& region)
      : accounts_(&region.At<PeakAccount>(Table::kPeakAccounts, 0)),
        place_{&region.header().peak, accounts_, &region.header().peak_policy} {
    Enter(2, kHeld, 0);
    Enter(2, kDistance, 0);
    Enter(2, 0, kDistance);
  }
  ~Exchange() {
    stop_ = true;
    thread_.join();
  }
  PeakTracker tracker() const { return PeakTracker(place_); }

 private:
  void Enter(uint32_t slot, uint64_t added, uint64_t removed) {
    uint64_t epoch;
    PeakTracker tracker(place_);
    PeakShare& share = shares_[slot];
    if (PeakTracker::RecordInAccount(accounts_[AccountOfSlot(slot)].account, share, added, removed,
                                     epoch)) {
      return;
    }
    if (share.found_far || !tracker.RecordStayingNear(added, removed, epoch)) {
      tracker.Record({&share, slot, 3, true}, added, removed);
    }
  }
  void Run() {
    while (!stop_) {
      for (uint64_t i = 0; i < 64; ++i) Enter(0, SizeOf(i), 0);
      for (uint64_t i = 0; i < 64; ++i) Enter(1, 0, SizeOf(i));
    }
  }
  static uint64_t SizeOf(uint64_t block) { return (block * 0x9e3779b97f4a7c15u >> 52) + 1; }

  PeakAccount* const accounts_;
  const PeakPlace place_;
  PeakShare shares_[3] = {};
  std::atomic<bool> stop_{false};
  std::thread thread_{[this] { Run(); }};
};

TEST_P(RegionRace, LiveBytesFarBelowThePeakAreThoseThereWere) {
  MadeRegion region(GetParam());
  const Exchange exchange(region);
  const auto view = RegionView::Open(region.fd());
  ASSERT_TRUE(view.has_value());
  // A look may be off by what moved while it was taken: that is little beside the way to the peak.
  const auto expect_possible = [](int64_t found) {
    EXPECT_GE(found, Exchange::kHeld - Exchange::kMostInFlight);
    EXPECT_LE(found, Exchange::kHeld + 2 * Exchange::kMostInFlight);
  };
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    expect_possible(ReadPeak(region.fd())->current);
    expect_possible(view->ReadWord()->current);
    expect_possible(exchange.tracker().Current());
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace
}  // namespace memprof
