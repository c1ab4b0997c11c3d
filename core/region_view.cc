#include "core/region_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/region_reader.h"

namespace memprof {
namespace {

constexpr uint64_t kLargestRegion = 4ull << 30;
constexpr int kWordTries = 5;
constexpr int kCopyTries = 5;

struct TableLimits {
  uint32_t record_bytes;
  uint32_t capacity;  // twice what the largest region of this version has
};
constexpr TableLimits kLimits[kTableCount] = {
    {sizeof(ModuleRecord), 8192},
    {1, 1 << 20},
    {sizeof(ThreadNameRecord), 514},
    {sizeof(NodeRecord), 1 << 24},
    {sizeof(SiteRecord), 1 << 23},
    {sizeof(CellChunk), 1 << 18},
    {sizeof(DetailChunk), 1 << 18},
    {sizeof(SizeCounts), 2 * kMaxSizeCounts},
    {64, 1 << 16},
};

bool CanNotShrink(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

bool CopyInto(int fd, void* to, uint64_t offset, uint64_t bytes) {
  auto* at = static_cast<unsigned char*>(to);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd, at + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<uint64_t>(n);
  }
  return true;
}

tl::unexpected<Error> CutShort() { return Fail(ErrorKind::kUnreadable, "the region is cut short"); }

// Whether two copies of a cell, one after the other, agree on its row at the peak. Where the
// epoch was the peak's in the first copy, peak_* were final before the second: the cell may go on
// counting. Live figures are those of some moment between the copies, but for an event in flight.
bool Agree(const Cell& first, const Cell& second, const PeakState& state) {
  if (std::memcmp(&first, &second, sizeof(Cell)) == 0) return true;
  return !state.armed && first.epoch == state.epoch && second.epoch == state.epoch;
}

}  // namespace

Result<RegionView> RegionView::Open(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Fail(ErrorKind::kUnreadable, strerror(errno));
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes < sizeof(RegionHeader) || bytes > kLargestRegion) {
    return Fail(ErrorKind::kUnreadable, "not a region of memprof: its size can't be right");
  }
  const bool copied = !CanNotShrink(fd);
  void* base = copied ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                      : mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return Fail(ErrorKind::kIo, strerror(errno));
  RegionView view(fd, static_cast<unsigned char*>(base), bytes,
                  static_cast<uint64_t>(info.st_blocks) * 512, copied);
  if (copied && !CopyInto(fd, view.base_, 0, sizeof(RegionHeader))) return CutShort();
  if (!view.CheckLayout()) {
    return Fail(ErrorKind::kUnreadable, "not a region of this memprof's version, or a damaged one");
  }
  return view;
}

RegionView::~RegionView() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

bool RegionView::CheckLayout() {
  if (header().magic != kRegionMagic || header().version != kRegionVersion ||
      header().header_bytes != sizeof(RegionHeader)) {
    return false;
  }
  std::memcpy(tables_, header().tables, sizeof tables_);
  if (tables_[static_cast<size_t>(Table::kDetailChunks)].capacity <
      tables_[static_cast<size_t>(Table::kCellChunks)].capacity) {
    return false;
  }
  for (size_t i = 0; i < kTableCount; ++i) {
    const TableInfo& table = tables_[i];
    if (table.record_bytes != kLimits[i].record_bytes || table.capacity > kLimits[i].capacity ||
        table.offset % kPageBytes != 0 || table.offset < sizeof(RegionHeader) ||
        table.offset > bytes_ ||
        uint64_t{table.capacity} * table.record_bytes > bytes_ - table.offset) {
      return false;
    }
  }
  return true;
}

bool RegionView::CopyPublished(Table table) {
  const auto index = static_cast<size_t>(table);
  const uint64_t count_at = offsetof(RegionHeader, counts) + index * sizeof(uint32_t);
  const TableInfo& info = tables_[index];
  if (table == Table::kDetailChunks) {  // as many as there are cell chunks
    return CopyInto(fd_, base_ + info.offset, info.offset,
                    uint64_t{count(Table::kCellChunks)} * info.record_bytes);
  }
  return CopyInto(fd_, base_ + count_at, count_at, sizeof(uint32_t)) &&
         CopyInto(fd_, base_ + info.offset, info.offset,
                  uint64_t{count(table)} * info.record_bytes);
}

Result<bool> RegionView::Refresh(const PeakState& state) {
  if (!copied_) return true;
  // What refers to other records is copied before them: nothing in the copy refers to a record that
  // came too late for it.
  constexpr uint64_t kMoving = offsetof(RegionHeader, state);
  if (!CopyInto(fd_, base_ + kMoving, kMoving, sizeof(RegionHeader) - kMoving) ||
      !CopyPublished(Table::kCellChunks)) {
    return CutShort();
  }
  const uint64_t chunks = tables_[static_cast<size_t>(Table::kCellChunks)].offset;
  const uint64_t cells = uint64_t{count(Table::kCellChunks)} * kCellsPerChunk;
  std::vector<Cell> again(cells);
  bool still = cells == 0;
  for (int i = 0; i < kCopyTries && !still; ++i) {
    if (!CopyInto(fd_, again.data(), chunks, cells * sizeof(Cell))) return CutShort();
    const Cell* first = Records<Cell>(Table::kCellChunks);
    still = true;
    for (uint64_t k = 0; k < cells && still; ++k) still = Agree(first[k], again[k], state);
    std::memcpy(base_ + chunks, static_cast<const void*>(again.data()), cells * sizeof(Cell));
  }
  // Sizes of events after the cells were copied make a cell's sizes more than its figures: they are
  // not known then.
  for (const Table table : {Table::kDetailChunks, Table::kSizeCounts, Table::kSites,
                            Table::kThreadNames, Table::kNodes, Table::kModules, Table::kStrings}) {
    if (!CopyPublished(table)) return CutShort();
  }
  return still;
}

Result<PeakState> RegionView::ReadPeak() const {
  if (copied_) return memprof::ReadPeak(fd_);
  PackedPeak seen;
  for (int i = 0; i < 1000; ++i) {
    auto load = [&] {
      return PackedPeak{__atomic_load_n(&header().peak.low, __ATOMIC_ACQUIRE),
                        __atomic_load_n(&header().peak.high, __ATOMIC_ACQUIRE)};
    };
    // Two equal looks. A value of `high` never comes back: its peak only grows, and it is disarmed
    // once for each. So `high` was the same over the second look at `low`.
    seen = load();
    if (seen == load()) break;
  }
  return Unpack(seen);
}

Result<PeakState> ReadPeak(int fd) {
  PackedPeak before;
  PackedPeak after;
  for (int i = 0; i < kWordTries; ++i) {
    constexpr uint64_t kAt = offsetof(RegionHeader, peak);
    if (!CopyInto(fd, &before, kAt, sizeof before) || !CopyInto(fd, &after, kAt, sizeof after)) {
      return CutShort();
    }
    if (before == after) break;
  }
  return Unpack(after);
}

}  // namespace memprof
