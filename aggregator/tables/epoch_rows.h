// EpochRows: each site's figures when an epoch of the peak began, summed from the cells.
//
// If a cell's last event was in an older epoch, its row is its current figures. If it was in the
// epoch itself, the row is what the cell kept (peak_*). If it was in a later epoch, the row is
// lost, and the sums say by how much they may be off. So the rows of an epoch are available as long
// as it is the newest, whatever threads do meanwhile. A mark begins an epoch: its rows are
// available until a new maximum has come and gone.
//
// A cell whose writer is in the middle of an event is looked at again, a bounded number of times.
// One kind of event stays unseen: its thread has entered it into the ordering word and not yet in
// its cell (at most one a thread). The rows then don't sum to the word's figure, and callers
// compare the two.
//
// Thread safety: writers of cells may go on; an EpochRows is used by one thread at a time.
// Memory: 32 bytes a site, private, which only grows. Failure: without memory has_rows is false,
// and only the sums are known.
// Memory order: as core/region/site_sums.h: a cell's stores are releases between an odd and an even
// sequence (booking.h), and are acquired here between two equal even ones.
#pragma once

#include <cstdint>

#include "aggregator/basics/region.h"

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

// Rows by site, in private memory. A row that was never set is zero.
class RowArray {
 public:
  // Makes room for `sites` rows; existing ones are kept. False: no memory.
  bool Grow(uint32_t sites);
  // Copies `other`'s rows to the first rows.
  bool CopyFrom(const RowArray& other);

  // A site beyond the rows has an empty row.
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
  uint32_t touched_pages_ = 0;  // pages that are counted as private bytes
};

struct EpochRows {
  RowArray live;    // at the begin of the epoch
  RowArray totals;  // allocated so far, at the time when each cell was read
  SiteRow live_sum;
  SiteRow totals_sum;
  bool has_rows = false;     // there was memory for `live` and `totals`
  bool exact = false;        // no cell has an event of a later epoch, and none was changing
  uint64_t raced_bytes = 0;  // the sum moved by other cells: rows are off by at most this

  void Take(const Region& region, uint64_t epoch);
};

}  // namespace memprof
