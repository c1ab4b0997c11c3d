#include "core/region_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace memprof {
namespace {

constexpr uint64_t kLargestRegion = 4ull << 30;

bool CanNotShrink(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

bool CopyInto(int fd, unsigned char* to, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes;) {
    const ssize_t n = pread(fd, to + at, bytes - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<uint64_t>(n);
  }
  return true;
}

}  // namespace

Result<RegionView> RegionView::Open(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Fail(ErrorKind::kUnreadable, strerror(errno));
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes < sizeof(RegionHeader) || bytes > kLargestRegion) {
    return Fail(ErrorKind::kUnreadable, "not a region of memprof: its size can't be right");
  }
  const bool in_place = CanNotShrink(fd);
  void* base = in_place ? mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0)
                        : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return Fail(ErrorKind::kIo, strerror(errno));
  RegionView view(static_cast<unsigned char*>(base), bytes,
                  static_cast<uint64_t>(info.st_blocks) * 512);
  if (!in_place && !CopyInto(fd, view.base_, bytes)) {
    return Fail(ErrorKind::kUnreadable, "the region is cut short");
  }
  if (!view.CheckLayout()) {
    return Fail(ErrorKind::kUnreadable, "not a region of this memprof's version, or a damaged one");
  }
  return view;
}

RegionView::~RegionView() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

bool RegionView::CheckLayout() {
  static constexpr uint32_t kRecordBytes[kTableCount] = {
      sizeof(ModuleRecord), 1, sizeof(ThreadNameRecord), sizeof(NodeRecord), sizeof(SiteRecord),
      sizeof(CellChunk),    64};
  if (header().magic != kRegionMagic || header().version != kRegionVersion ||
      header().header_bytes != sizeof(RegionHeader)) {
    return false;
  }
  std::memcpy(tables_, header().tables, sizeof tables_);
  for (size_t i = 0; i < kTableCount; ++i) {
    const TableInfo& table = tables_[i];
    if (table.record_bytes != kRecordBytes[i] || table.offset % kPageBytes != 0 ||
        table.offset < sizeof(RegionHeader) || table.offset > bytes_ ||
        uint64_t{table.capacity} * table.record_bytes > bytes_ - table.offset) {
      return false;
    }
  }
  return true;
}

PeakState RegionView::ReadPeak() const {
  PackedPeak seen;
  for (int i = 0; i < 1000; ++i) {
    auto load = [&] {
      return PackedPeak{__atomic_load_n(&header().peak.low, __ATOMIC_ACQUIRE),
                        __atomic_load_n(&header().peak.high, __ATOMIC_ACQUIRE)};
    };
    // Two equal looks: high did not move between the two reads of low, or moved there and back,
    // which the epoch in it forbids but for a value that was true in between.
    seen = load();
    if (seen == load()) break;
  }
  return Unpack(seen);
}

}  // namespace memprof
