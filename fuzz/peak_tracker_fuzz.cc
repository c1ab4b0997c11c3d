// PeakTracker and the booking of cells, compared with a model that copies all rows at every new
// maximum.
//
//   input   1 byte: whether glibc says that there is one thread; how much each of two threads may
//           hold back (0: nothing, and then everything is exact). Several threads count in accounts
//           while the heap is far below its peak
//           3 bytes an operation: which, of which thread and site; a size

#include <sys/single_threaded.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "aggregator/tables/booking.h"
#include "aggregator/tables/peak_tracker.h"

namespace {

using namespace memprof;

constexpr size_t kMostBytes = 300;
constexpr size_t kThreads = 2;
constexpr size_t kSites = 5;
constexpr size_t kCells = kThreads * kSites;

struct Block {
  size_t site;
  uint64_t bytes;
};

class Both {
 public:
  explicit Both(uint64_t slack) : slack_(slack) {}

  // One step that frees the `freed`-th block, if there is one, and allocates if `allocates`.
  void Event(size_t thread, bool allocates, size_t site, uint64_t bytes, bool frees, size_t freed) {
    frees = frees && !blocks_.empty();
    if (!allocates && !frees) return;
    Block old = {0, 0};
    if (frees) {
      std::swap(blocks_[freed % blocks_.size()], blocks_.back());
      old = blocks_.back();
      blocks_.pop_back();
    }
    const uint64_t added = allocates ? bytes : 0;
    const uint64_t epoch = Enter(thread, added, old.bytes);
    Cell* cells = cells_ + thread * kSites;
    if (frees) Book(cells[old.site], epoch, {.freed_bytes = old.bytes, .freed_count = 1});
    if (allocates) {
      Book(cells[site], epoch, {.allocated_bytes = bytes, .allocated_count = 1});
      blocks_.push_back({site, bytes});
    }
    live_[old.site] -= static_cast<int64_t>(old.bytes);
    live_[site] += static_cast<int64_t>(added);
    current_ += static_cast<int64_t>(added - old.bytes);
    if (current_ > peak_) {
      peak_ = current_;
      std::memcpy(at_peak_, live_, sizeof live_);
    }
    Check();
  }

  void Mark() {
    PeakState before = Tracker().Load();
    if (before.current != current_) std::abort();
    if (!Tracker().EndSegment(before, before)) std::abort();
    if (before.current != current_) std::abort();
    peak_ = current_;
    std::memcpy(at_peak_, live_, sizeof live_);
    Check();
  }

  void Disarm() {
    PeakState state = Tracker().Load();
    Tracker().Disarm(state);
    if (!(state == Tracker().Load()) || state.armed) std::abort();
    Check();
  }

 private:
  PeakTracker Tracker() { return PeakTracker(PeakPlace{&word_, accounts_, &policy_}); }

  // As events/order.cc does it.
  uint64_t Enter(size_t thread, uint64_t added, uint64_t removed) {
    PeakTracker tracker = Tracker();
    uint64_t epoch;
    if (OneThread() && slack_ == 0) {
      return tracker.RecordAlone(added, removed, epoch) ? epoch : tracker.Record(added, removed);
    }
    const auto slot = static_cast<uint32_t>(thread);
    std::atomic<uint64_t>& account = accounts_[AccountOfSlot(slot)].account;
    if (PeakTracker::RecordInAccount(account, shares_[thread], added, removed, epoch) ||
        tracker.KeepBack(pending_[thread], slack_, added, removed, epoch)) {
      return epoch;
    }
    return tracker.RecordWithKept({&shares_[thread], slot, kThreads, !OneThread()},
                                  pending_[thread], added, removed);
  }

  void Check() {
    const PeakState state = Tracker().Load();
    int64_t rows[kSites] = {};
    int64_t sum = 0;
    for (size_t i = 0; i < kCells; ++i) {
      const Cell& cell = cells_[i];
      const bool kept = !state.armed && cell.epoch == state.epoch;
      const int64_t row =
          kept ? cell.peak_bytes.load()
               : static_cast<int64_t>(cell.allocated_bytes.load() - cell.freed_bytes.load());
      rows[i % kSites] += row;
      sum += row;
    }
    int64_t kept_back = 0;
    for (const int64_t pending : pending_) {
      if (pending > static_cast<int64_t>(slack_) || -pending > static_cast<int64_t>(slack_)) {
        std::abort();
      }
      kept_back += pending;
    }
    if (state.current + kept_back != current_) std::abort();
    const auto known = static_cast<int64_t>(state.peak);
    const auto bound = static_cast<int64_t>(kThreads * slack_);
    if (std::abs(known - peak_) > bound || std::abs(sum - known) > 2 * bound) std::abort();
    if (slack_ == 0 && std::memcmp(rows, at_peak_, sizeof rows) != 0) std::abort();
  }

  const uint64_t slack_;
  PackedPeak word_ = Pack({0, 0, 0, false});
  PeakAccount accounts_[kPeakAccounts] = {};
  PeakPolicy policy_ = {};
  PeakShare shares_[kThreads] = {};
  Cell cells_[kCells] = {};
  int64_t pending_[kThreads] = {};
  std::vector<Block> blocks_;
  int64_t live_[kSites] = {};
  int64_t at_peak_[kSites] = {};
  int64_t current_ = 0;
  int64_t peak_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > kMostBytes) return -1;  // long ones find no more, and slowly
  const char threads = __libc_single_threaded;
  __libc_single_threaded = data[0] % 2 == 1;
  const uint64_t slack = uint64_t{data[0] / 2u} * 8;
  Both both(slack);
  for (size_t at = 1; at + 3 <= size; at += 3) {
    const uint8_t which = data[at];
    const size_t thread = which / 8 % kThreads;
    const size_t site = which / 16 % kSites;
    const uint64_t bytes = data[at + 1];
    switch (which % 8) {
      case 0:
      case 1:
        both.Event(thread, true, site, bytes, false, 0);
        break;
      case 2:
        both.Event(thread, true, site, bytes << 20, false, 0);
        break;
      case 3:
      case 4:
        both.Event(thread, false, 0, 0, true, data[at + 2]);
        break;
      case 5:
        both.Event(thread, true, site, bytes, true, data[at + 2]);
        break;
      case 6:
        // Changes that threads hold back belong to the segment in which they reach the word.
        if (slack == 0) both.Mark();
        break;
      default:
        both.Disarm();
    }
  }
  __libc_single_threaded = threads;
  return 0;
}
