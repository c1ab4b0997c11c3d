// EpochRows: what every site had when an epoch of the peak began, summed from the cells.
//
// The row of a cell whose last event was of an older epoch is what it has now; of the epoch itself,
// what it kept (peak_*); of a later one it is lost, and the sums say by how much they may be off.
// So the rows of an epoch can be had for as long as it is the newest, whatever threads do
// meanwhile, and of a mark (which begins one) until a new maximum has come and gone.
//
// A cell whose writer is in the middle of an event is looked at again, a bounded number of times.
// What stays unseen: an event that its thread has entered into the ordering word and not yet in its
// cell (one a thread). Then the rows don't sum to what the word had, which callers compare.
//
// Thread safety: writers of cells may go on; an EpochRows is used by one thread at a time.
// Memory: 32 bytes a site, private, which only grows. Failure: without memory has_rows is false,
// and only the sums are known. Memory order: as core/region/site_sums.h: a cell's stores are
// releases between an odd and an even sequence (booking.h), and are acquired here between two equal
// even ones.
#pragma once

#include <cstdint>

#include "aggregator/region.h"

namespace memprof {

struct SiteRow {
  int64_t bytes = 0;
  int64_t count = 0;
  SiteRow& operator+=(const SiteRow& other) {
    bytes += other.bytes;
    count += other.count;
    return *this;
  }
  friend SiteRow operator-(const SiteRow& a, const SiteRow& b) {
    return {a.bytes - b.bytes, a.count - b.count};
  }
  friend bool operator==(const SiteRow&, const SiteRow&) = default;
};

// Rows by site, in private memory. What was never set is zero.
class RowArray {
 public:
  // Room for `sites` rows, with all that there are kept. False: no memory.
  bool Grow(uint32_t sites);
  // As `other`'s first rows.
  bool CopyFrom(const RowArray& other);

  // A site beyond the rows has none.
  SiteRow operator[](uint32_t site) const { return site < used_ ? rows_[site] : SiteRow{}; }
  SiteRow& At(uint32_t site) { return rows_[site]; }  // Pre: Grow(more than site)
  uint32_t used() const { return used_; }
  void Clear();
  // For tests.
  void Destroy();

 private:
  SiteRow* rows_ = nullptr;
  uint32_t used_ = 0;
  uint32_t capacity_ = 0;
  uint32_t touched_pages_ = 0;  // counted as private bytes
};

struct EpochRows {
  RowArray live;    // at the epoch's begin
  RowArray totals;  // allocated so far: as each cell was looked at
  SiteRow live_sum;
  SiteRow totals_sum;
  bool has_rows = false;     // there was memory for `live` and `totals`
  bool exact = false;        // no cell has an event of a later epoch, and all held still
  uint64_t raced_bytes = 0;  // what those that have moved: rows are off by at most this

  void Take(const Region& region, uint64_t epoch);
};

}  // namespace memprof
