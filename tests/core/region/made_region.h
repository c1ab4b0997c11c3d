// MadeRegion: a region written by hand, record by record, for tests of its readers.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/protocol/region_layout.h"

namespace memprof {

class MadeRegion {
 public:
  enum class Kind { kMemory, kFile };  // read in place, or copied

  explicit MadeRegion(Kind kind = Kind::kMemory) {
    if (kind == Kind::kMemory) {
      fd_ = memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    } else {
      std::string pattern = testing::TempDir() + "/region-XXXXXX";
      fd_ = mkostemp(pattern.data(), O_CLOEXEC);
      unlink(pattern.c_str());
    }
    RegionHeader layout = {};
    bytes_ = LayOutRegion(layout, 1 << 20);
    if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) abort();
    if (kind == Kind::kMemory) fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK);
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    if (base_ == MAP_FAILED) abort();
    std::memcpy(base_, &layout, sizeof layout);
    Take(Table::kNodes);  // the root
    std::strcpy(At<ThreadNameRecord>(Table::kThreadNames, Take(Table::kThreadNames)).name, "main");
  }
  MadeRegion(const MadeRegion&) = delete;
  MadeRegion& operator=(const MadeRegion&) = delete;
  ~MadeRegion() {
    munmap(base_, bytes_);
    close(fd_);
  }

  int fd() const { return fd_; }
  uint64_t bytes() const { return bytes_; }
  RegionHeader& header() { return *reinterpret_cast<RegionHeader*>(base_); }
  template <typename Record>
  Record& At(Table table, uint32_t index) {
    const TableInfo& info = header().tables[static_cast<size_t>(table)];
    return reinterpret_cast<Record*>(base_ + info.offset)[index];
  }
  std::atomic<uint32_t>& count(Table table) { return header().counts[static_cast<size_t>(table)]; }

  uint32_t Module(const std::string& path, uint64_t load_bias) {
    const uint32_t index = Take(Table::kModules);
    auto& module = At<ModuleRecord>(Table::kModules, index);
    module.path_offset = Take(Table::kStrings, static_cast<uint32_t>(path.size()));
    module.path_bytes = static_cast<uint32_t>(path.size());
    std::memcpy(&At<char>(Table::kStrings, module.path_offset), path.data(), path.size());
    module.load_bias = load_bias;
    module.build_id[0] = 0xab;
    module.build_id_bytes = 1;
    module.end = load_bias + 0x100000;
    return index;
  }
  uint32_t Node(uint32_t parent, uint64_t pc, uint32_t module = kNoModule) {
    const uint32_t index = Take(Table::kNodes);
    auto& node = At<NodeRecord>(Table::kNodes, index);
    node.parent = parent;
    node.module = module;
    node.pc = pc;
    return index;
  }
  uint32_t Site(uint32_t node) {
    const uint32_t index = Take(Table::kSites);
    At<SiteRecord>(Table::kSites, index).node = node;
    return index;
  }
  // A new cell of the site; a site may have several.
  Cell& NewCell(uint32_t site) {
    if (cells_ % kCellsPerChunk == 0) Take(Table::kCellChunks);
    auto& chunk = At<CellChunk>(Table::kCellChunks, cells_ / kCellsPerChunk);
    Cell& cell = chunk.cells[cells_++ % kCellsPerChunk];
    cell.site_plus_one = site + 1;
    return cell;
  }
  // The site's shared cell.
  Cell& SharedCell(uint32_t site) {
    const uint32_t group = SharedGroupOf(site);
    At<uint64_t>(Table::kSharedGroups, group / kGroupsPerWord) |= uint64_t{1}
                                                                  << group % kGroupsPerWord;
    const auto capacity = header().tables[static_cast<size_t>(Table::kCellChunks)].capacity;
    Cell& cell =
        At<CellChunk>(Table::kCellChunks, capacity - 1 - group).cells[site % kCellsPerChunk];
    cell.site_plus_one = site + 1;
    return cell;
  }
  // Those of the n-th cell.
  CellDetails& Details(uint32_t cell) {
    return At<DetailChunk>(Table::kDetailChunks, cell / kCellsPerChunk)
        .details[cell % kCellsPerChunk];
  }
  uint32_t NewSizes() { return Take(Table::kSizeCounts); }
  void SetPeak(const PeakState& state) { header().peak = Pack(state); }

 private:
  uint32_t Take(Table table, uint32_t records = 1) { return count(table).fetch_add(records); }

  int fd_;
  uint64_t bytes_;
  unsigned char* base_;
  uint32_t cells_ = 0;
};

}  // namespace memprof
