#include "aggregator/basics/region.h"

#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/private_memory.h"

namespace memprof {
namespace {

// A limit for kernels that report every page as present to processes that may not write the file.
constexpr uint64_t kMaxCopiedBytes = uint64_t{256} << 20;

}  // namespace

void* MapRegion(int fd, uint64_t bytes) {
  void* base = MapUntouched(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
  if (base != nullptr) kernel::Advise(base, bytes, MADV_DONTDUMP);
  return base;
}

bool MakePrivateCopy(void* base, uint64_t bytes) {
  // small, because it may be on the stack of a signal handler
  constexpr uint64_t kPagesAtOnce = 512;
  unsigned char present[kPagesAtOnce];
  auto* const from = static_cast<unsigned char*>(base);
  // Shared memory doesn't count against RLIMIT_DATA; nobody else has this mapping.
  auto* const copy = static_cast<unsigned char*>(kernel::Map(
      nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE));
  if (copy == nullptr) return false;
  // Most of a region was never written; reading it would allocate memory.
  uint64_t copied = 0;
  bool fine = true;
  for (uint64_t at = 0; fine && at < bytes; at += kPagesAtOnce * kPageBytes) {
    const uint64_t part =
        bytes - at < kPagesAtOnce * kPageBytes ? bytes - at : kPagesAtOnce * kPageBytes;
    fine = kernel::Call(SYS_mincore, from + at, part, present) == 0;
    for (uint64_t page = 0; fine && page * kPageBytes < part; ++page) {
      if ((present[page] & 1) == 0) continue;
      const uint64_t offset = at + page * kPageBytes;
      const uint64_t size = bytes - offset < kPageBytes ? bytes - offset : kPageBytes;
      memcpy(copy + offset, from + offset, size);
      copied += size;
      fine = copied <= kMaxCopiedBytes;
    }
  }
  fine = fine && kernel::Call(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                              from) == reinterpret_cast<long>(from);
  if (!fine) kernel::Unmap(copy, bytes);
  return fine;
}

bool Region::Attach(void* base, uint64_t bytes) {
  auto* header = static_cast<RegionHeader*>(base);
  if (bytes < sizeof(RegionHeader) || header->magic != kRegionMagic ||
      header->version != kRegionVersion || header->header_bytes != sizeof(RegionHeader) ||
      header->region_bytes > bytes) {
    return false;
  }
  TableInfo tables[kTableCount];
  memcpy(tables, header->tables, sizeof tables);
  for (const TableInfo& table : tables) {
    if (table.offset > bytes ||
        uint64_t{table.capacity} * table.record_bytes > bytes - table.offset) {
      return false;
    }
  }
  const auto capacity = [&](Table table) {
    return uint64_t{tables[static_cast<size_t>(table)].capacity};
  };
  if (capacity(Table::kDetailChunks) < capacity(Table::kCellChunks) ||
      capacity(Table::kCellChunks) > kMaxCellChunks ||
      capacity(Table::kPeakAccounts) < kPeakAccounts ||
      capacity(Table::kSharedGroups) * kGroupsPerWord * kCellsPerChunk < capacity(Table::kSites)) {
    return false;
  }
  memcpy(tables_, tables, sizeof tables);
  base_ = static_cast<unsigned char*>(base);
  bytes_ = bytes;
  header_ = header;
  cells_ = Records<Cell>(Table::kCellChunks);
  details_ = Records<CellDetails>(Table::kDetailChunks);
  size_counts_ = Records<SizeCounts>(Table::kSizeCounts);
  peak_accounts_ = Records<PeakAccount>(Table::kPeakAccounts);
  return true;
}

}  // namespace memprof
