#include "aggregator/region.h"

#include "aggregator/kernel_calls.h"

namespace memprof {

void* MapRegion(int fd, uint64_t bytes) {
  void* base = kernel::Map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
  if (base != nullptr) kernel::Advise(base, bytes, MADV_DONTDUMP);
  return base;
}

bool Region::Attach(void* base, uint64_t bytes) {
  auto* header = static_cast<RegionHeader*>(base);
  if (bytes < sizeof(RegionHeader) || header->magic != kRegionMagic ||
      header->version != kRegionVersion || header->header_bytes != sizeof(RegionHeader) ||
      header->region_bytes > bytes) {
    return false;
  }
  for (const TableInfo& table : header->tables) {
    if (table.offset > bytes ||
        uint64_t{table.capacity} * table.record_bytes > bytes - table.offset) {
      return false;
    }
  }
  if (header->tables[static_cast<size_t>(Table::kDetailChunks)].capacity <
      header->tables[static_cast<size_t>(Table::kCellChunks)].capacity) {
    return false;
  }
  const auto capacity = [&](Table table) {
    return uint64_t{header->tables[static_cast<size_t>(table)].capacity};
  };
  if (capacity(Table::kCellChunks) > kMaxCellChunks ||
      capacity(Table::kSharedGroups) * kGroupsPerWord * kCellsPerChunk < capacity(Table::kSites)) {
    return false;
  }
  base_ = static_cast<unsigned char*>(base);
  header_ = header;
  cells_ = Records<Cell>(Table::kCellChunks);
  details_ = Records<CellDetails>(Table::kDetailChunks);
  size_counts_ = Records<SizeCounts>(Table::kSizeCounts);
  return true;
}

}  // namespace memprof
