#include "core/region/region_view.h"

#include <emmintrin.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "core/once.h"
#include "core/protocol/peak_reading.h"
#include "core/region/region_reader.h"

namespace memprof {
namespace {

constexpr uint64_t kLargestRegion = 1ull << 30;
constexpr uint64_t kBlock = 64 * 1024;  // the unit of copying
constexpr int kWordTries = 5;
constexpr int kMappedWordTries = 1000;
constexpr int kCopyTries = 5;

struct TableLimits {
  uint32_t record_bytes;
  uint32_t capacity;  // twice the capacity in the largest region of this version
};
constexpr TableLimits kLimits[kTableCount] = {
    {sizeof(ModuleRecord), 1 << 17},
    {1, 1 << 23},
    {sizeof(ThreadNameRecord), 514},
    {sizeof(NodeRecord), 1 << 24},
    {sizeof(SiteRecord), 1 << 23},
    {sizeof(CellChunk), kMaxCellChunks},
    {sizeof(uint64_t), (1 << 23) / kCellsPerChunk / kGroupsPerWord},
    {sizeof(DetailChunk), kMaxCellChunks},
    {sizeof(SizeCounts), 2 * kMaxSizeCounts},
    {sizeof(PeakRow), 1 << 24},
    {sizeof(NamedMomentRecord), 2 * kMaxNamedMomentRecords},
    {sizeof(NamedMomentRow), 1 << 22},
    {sizeof(MappingSiteRecord), 1 << 20},
    {sizeof(MappedFileRecord), 2 * kMaxMappedFiles},
    {sizeof(MappingRecord), 1 << 20},
    {sizeof(MappedRange), 1 << 20},
    {sizeof(SlotRecord), 2 * kMaxSlots},
    {sizeof(uint32_t), kMaxCellChunks},
    {sizeof(PythonCodeRecord), kMaxPythonCodes},
    {1, 1 << 26},
    {sizeof(PeakAccount), 2 * kPeakAccounts},
};

bool CanNotShrink(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

bool CopyInto(const RegionPlace& place, void* to, uint64_t offset, uint64_t bytes) {
  auto* at = static_cast<unsigned char*>(to);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n =
        pread(place.fd, at + done, bytes - done, static_cast<off_t>(place.offset + offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<uint64_t>(n);
  }
  return true;
}

// The same, but blocks that did not change are not written: the copy of a file that is mostly a
// hole is mostly a hole. Returns the length up to the last byte that is not 0.
std::optional<uint64_t> CopyWhatDiffers(const RegionPlace& place, unsigned char* to,
                                        uint64_t offset, uint64_t bytes) {
  unsigned char block[kBlock];
  uint64_t filled = 0;
  for (uint64_t done = 0; done < bytes; done += kBlock) {
    const uint64_t n = std::min(kBlock, bytes - done);
    if (!CopyInto(place, block, offset + done, n)) return std::nullopt;
    if (std::memcmp(to + done, block, n) != 0) std::memcpy(to + done, block, n);
    uint64_t used = n;
    while (used != 0 && block[used - 1] == 0) --used;
    if (used != 0) filled = done + used;
  }
  return filled;
}

tl::unexpected<Error> CutShort() { return Fail(ErrorKind::kUnreadable, "the region is cut short"); }

// Of a file that may be truncated meanwhile.
struct CopyingReader {
  const RegionPlace& place;
  const TableInfo& accounts;

  bool Word(PackedPeak& word) const {
    for (int i = 0; i < kWordTries; ++i) {
      PackedPeak before;
      if (!CopyInto(place, &before, offsetof(RegionHeader, peak), sizeof before) ||
          !CopyInto(place, &word, offsetof(RegionHeader, peak), sizeof word)) {
        return false;
      }
      if (before == word && CanBe(word)) break;  // else the last one has to do
    }
    return true;
  }

  uint32_t capacity() const {
    return accounts.record_bytes == sizeof(PeakAccount) ? std::min(accounts.capacity, kPeakAccounts)
                                                        : 0;
  }
  bool Start(uint64_t generation, GenerationStart& start) const {
    const uint32_t opener = AccountOfSlot(OpenerOf(generation));
    if (opener >= capacity()) return true;
    PeakAccount copy = {};
    if (!CopyInto(place, &copy, accounts.offset + opener * sizeof copy, sizeof copy)) return false;
    const PeakGeneration& from = copy.generations[PlaceOf(generation)];
    start = {from.base, std::min<uint32_t>(from.accounts, capacity())};
    return true;
  }
  bool Base(uint64_t generation, int64_t& base) const {
    GenerationStart start;
    if (!Start(generation, start)) return false;
    base = start.base;
    return true;
  }
  bool Sum(uint64_t generation, AccountSums& sums) const {
    GenerationStart start;
    if (!Start(generation, start)) return false;
    std::vector<PeakAccount> copies(start.accounts);
    if (!CopyInto(place, copies.data(), accounts.offset, copies.size() * sizeof(PeakAccount))) {
      return false;
    }
    SumAccounts(copies.data(), start, generation, kLoadAccount, sums);
    return true;
  }
};

bool LoadsWhole() {
  static const bool has_avx = __builtin_cpu_supports("avx") != 0;
  return has_avx;
}

// Of a region that is read in place.
struct MappedReader {
  const PackedPeak& word;
  const PeakAccount* accounts;
  uint32_t capacity;

  bool Word(PackedPeak& now) const {
    if (LoadsWhole()) {
      // Processors with AVX read 16 aligned bytes at once. Loads aren't reordered with other loads.
      __m128i whole;
      __asm__ volatile("movdqa %1, %0"
                       : "=x"(whole)
                       : "m"(*reinterpret_cast<const __m128i*>(&word))
                       : "memory");
      std::memcpy(&now, &whole, sizeof now);
      return true;
    }
    const auto load = [this] {
      return PackedPeak{__atomic_load_n(&word.low, __ATOMIC_ACQUIRE),
                        __atomic_load_n(&word.high, __ATOMIC_ACQUIRE)};
    };
    for (int i = 0; i < kMappedWordTries; ++i) {
      now = load();
      if (now == load() && CanBe(now)) break;
    }
    return true;
  }
  GenerationStart Start(uint64_t generation) const {
    return StartOf(accounts, capacity, generation, kLoadAccount);
  }
  bool Base(uint64_t generation, int64_t& base) const {
    base = Start(generation).base;
    return true;
  }
  bool Sum(uint64_t generation, AccountSums& sums) const {
    SumAccounts(accounts, Start(generation), generation, kLoadAccount, sums);
    return true;
  }
};

Result<PeakState> CopyState(const RegionPlace& place, const TableInfo& accounts) {
  PeakState state;
  if (!ReadPeakState(CopyingReader{place, accounts}, state)) return CutShort();
  return state;
}

// True if two successive copies of a cell agree on its row at the peak. If the epoch was the peak's
// in the first copy, peak_* were final before the second: the cell may go on counting. Live figures
// are those of some moment between the copies, except for an event in flight.
bool Agree(const Cell& first, const Cell& second, const PeakState& state) {
  if (std::memcmp(&first, &second, sizeof(Cell)) == 0) return true;
  return !state.armed && first.epoch == state.epoch && second.epoch == state.epoch;
}

// The bytes of a part of a file that are not in a hole.
uint64_t BytesIn(const RegionPlace& place) {
  const auto end = static_cast<off_t>(place.offset + place.bytes);
  uint64_t bytes = 0;
  for (auto at = static_cast<off_t>(place.offset); at < end;) {
    const off_t data = lseek(place.fd, at, SEEK_DATA);
    if (data < 0 || data >= end) break;
    const off_t hole = lseek(place.fd, data, SEEK_HOLE);
    if (hole < 0) break;
    bytes += static_cast<uint64_t>(std::min(hole, end) - data);
    at = hole;
  }
  return bytes;
}

}  // namespace

Result<RegionView> RegionView::Open(const RegionPlace& place) {
  const int fd = place.fd;
  struct stat info;
  if (fstat(fd, &info) != 0) return Fail(ErrorKind::kUnreadable, strerror(errno));
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  const uint64_t whole = place.layout != nullptr ? place.layout->bytes : file_bytes;
  const uint64_t bytes = place.bytes == 0 ? whole : place.bytes;
  if (place.offset > file_bytes || bytes > file_bytes - place.offset) return CutShort();
  if (bytes < sizeof(RegionHeader) || bytes > kLargestRegion) {
    return Fail(ErrorKind::kUnreadable, "not a region of memprof: its size can't be right");
  }
  const bool copied = !CanNotShrink(fd);
  void* base =
      copied ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
             : mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(place.offset));
  if (base == MAP_FAILED) return Fail(ErrorKind::kIo, strerror(errno));
  const uint64_t resident =
      place.bytes == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : BytesIn(place);
  RegionView view(place, static_cast<unsigned char*>(base), bytes, resident, copied);
  if (copied && !CopyInto(place, view.base_, 0, sizeof(RegionHeader))) return CutShort();
  if (!view.TakeLayout()) {
    return Fail(ErrorKind::kUnreadable, "not a region of this memprof's version, or a damaged one");
  }
  return view;
}

RegionView::~RegionView() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

bool RegionView::TakeLayout() {
  if (header().magic != kRegionMagic || header().version != kRegionVersion ||
      header().header_bytes != sizeof(RegionHeader)) {
    return false;
  }
  if (place_.layout != nullptr) {
    std::copy(std::begin(place_.layout->tables), std::end(place_.layout->tables), tables_);
    for (size_t i = 0; i < kTableCount; ++i) filled_[i] = tables_[i].capacity;
    return place_.layout->bytes <= bytes_;
  }
  // Read once, so that the checked value is the used value.
  for (size_t i = 0; i < kTableCount; ++i) {
    const TableInfo& table = header().tables[i];
    tables_[i] = {Once(table.offset), Once(table.capacity), Once(table.record_bytes)};
    filled_[i] = tables_[i].capacity;
  }
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
  const TableInfo& info = tables_[index];
  const auto copy = [&](uint64_t at, uint64_t bytes) {
    const auto filled = CopyWhatDiffers(place_, base_ + at, at, bytes);
    // Records that are all 0 are not filled, and nothing refers to them.
    if (filled && (table == Table::kSites || table == Table::kNodes)) {
      filled_[index] = static_cast<uint32_t>((*filled + info.record_bytes - 1) / info.record_bytes);
    }
    return filled.has_value();
  };
  if (table == Table::kPeakRows) {  // the half that is valid
    const KeptRows kept = ValidRows();
    const uint64_t at = info.offset + kept.first * uint64_t{info.record_bytes};
    return copy(at, kept.sites * uint64_t{info.record_bytes});
  }
  const uint64_t count_at = offsetof(RegionHeader, counts) + index * sizeof(uint32_t);
  if (table == Table::kSharedGroups || table == Table::kSlots) {
    return copy(info.offset, uint64_t{info.capacity} * info.record_bytes);
  }
  if (table == Table::kChunkOwners) {
    const uint64_t chunks = std::min(count(Table::kCellChunks), info.capacity);
    return copy(info.offset, chunks * info.record_bytes);
  }
  filled_[index] = info.capacity;
  return CopyInto(place_, base_ + count_at, count_at, sizeof(uint32_t)) &&
         copy(info.offset, uint64_t{count(table)} * info.record_bytes);
}

// Copies the chunks of kCellChunks or kDetailChunks that the copied header and groups call used.
bool RegionView::CopyChunks(Table table) {
  const TableInfo& info = tables_[static_cast<size_t>(table)];
  bool fine = true;
  VisitChunks([&](uint32_t first, uint32_t chunks) {
    const uint64_t at = info.offset + uint64_t{first} * info.record_bytes;
    fine =
        fine &&
        CopyWhatDiffers(place_, base_ + at, at, uint64_t{chunks} * info.record_bytes).has_value();
  });
  return fine;
}

// A record whose rows were rewritten while they were copied counts as one that is being written.
bool RegionView::CopyNamedMoments() {
  const TableInfo& info = tables_[static_cast<size_t>(Table::kNamedMoments)];
  bool still = false;
  for (int i = 0; i < kCopyTries && !still; ++i) {
    if (!CopyPublished(Table::kNamedMoments) || !CopyPublished(Table::kNamedMomentRows))
      return false;
    auto* records = reinterpret_cast<NamedMomentRecord*>(base_ + info.offset);
    std::vector<NamedMomentRecord> again(count(Table::kNamedMoments));
    if (!CopyInto(place_, again.data(), info.offset, again.size() * sizeof(NamedMomentRecord))) {
      return false;
    }
    still = true;
    for (size_t k = 0; k < again.size(); ++k) {
      if (records[k].sequence == again[k].sequence) continue;
      records[k].sequence = 1;
      still = false;
    }
  }
  return true;
}

// True if the cells have not changed in what the rows at `state` need. Nullopt: the file was
// truncated.
std::optional<bool> RegionView::CopyCellsAgain(const PeakState& state) {
  const uint64_t offset = tables_[static_cast<size_t>(Table::kCellChunks)].offset;
  std::vector<Cell> again(kBlock / sizeof(Cell));
  bool still = true;
  bool cut = false;
  VisitChunks([&](uint32_t first, uint32_t chunks) {
    const uint64_t begin = offset + uint64_t{first} * sizeof(CellChunk);
    const uint64_t bytes = uint64_t{chunks} * sizeof(CellChunk);
    for (uint64_t done = 0; done < bytes && !cut; done += kBlock) {
      const uint64_t n = std::min(kBlock, bytes - done);
      unsigned char* const at = base_ + begin + done;
      cut = !CopyInto(place_, again.data(), begin + done, n);
      if (cut || std::memcmp(at, again.data(), n) == 0) continue;
      const auto* old = reinterpret_cast<const Cell*>(at);
      for (uint64_t k = 0; k < n / sizeof(Cell) && still; ++k) {
        still = Agree(old[k], again[k], state);
      }
      std::memcpy(at, static_cast<const void*>(again.data()), n);
    }
  });
  if (cut) return std::nullopt;
  return still;
}

Result<bool> RegionView::Refresh(const PeakState& state) {
  if (!copied_) return true;
  // Tables that refer to other records are copied before those: nothing in the copy refers to a
  // record that came too late for it.
  constexpr uint64_t kMoving = offsetof(RegionHeader, state);
  if (!CopyInto(place_, base_ + kMoving, kMoving, sizeof(RegionHeader) - kMoving) ||
      !CopyPublished(Table::kSharedGroups) || !CopyChunks(Table::kCellChunks)) {
    return CutShort();
  }
  bool still = false;
  for (int i = 0; i < kCopyTries && !still; ++i) {
    const auto agree = CopyCellsAgain(state);
    if (!agree) return CutShort();
    still = *agree;
  }
  // Events after the cells were copied may make a cell's sizes exceed its figures. The sizes are
  // then unknown.
  if (!CopyChunks(Table::kDetailChunks)) return CutShort();
  for (const Table table :
       {Table::kSizeCounts, Table::kMappedRanges, Table::kMappings, Table::kMappingSites,
        Table::kMappedFiles, Table::kSites, Table::kThreadNames, Table::kNodes, Table::kModules,
        Table::kStrings, Table::kPythonCodes, Table::kPythonBytes, Table::kPeakRows,
        Table::kChunkOwners, Table::kSlots}) {
    if (!CopyPublished(table)) return CutShort();
  }
  if (!CopyNamedMoments()) return CutShort();
  const auto generation = ReadKeptGeneration();
  if (!generation) return tl::unexpected<Error>(generation.error());
  return still && *generation == header().kept_generation;
}

RegionView::KeptRows RegionView::ValidRows() const {
  const uint32_t generation = header().kept_generation.load(std::memory_order_acquire);
  if (generation == 0) return {};
  const KeptPeak& kept = header().kept_peaks[generation % 2];
  const uint32_t half = tables_[static_cast<size_t>(Table::kPeakRows)].capacity / 2;
  return {generation, std::min<uint64_t>(kept.peak.load(std::memory_order_relaxed), kPeakMaxBytes),
          kept.bound_bytes.load(std::memory_order_relaxed), generation % 2 * half,
          std::min(kept.sites.load(std::memory_order_relaxed), half)};
}

Result<uint32_t> RegionView::ReadKeptGeneration() const {
  if (!copied_) return header().kept_generation.load(std::memory_order_acquire);
  uint32_t generation;
  if (!CopyInto(place_, &generation, offsetof(RegionHeader, kept_generation), sizeof generation)) {
    return CutShort();
  }
  return generation;
}

Result<PeakState> RegionView::ReadWord() const {
  const TableInfo& accounts = tables_[static_cast<size_t>(Table::kPeakAccounts)];
  if (copied_) return CopyState(place_, accounts);
  PeakState state;
  ReadPeakState(MappedReader{header().peak, Records<PeakAccount>(Table::kPeakAccounts),
                             std::min(accounts.capacity, kPeakAccounts)},
                state);
  return state;
}

Result<PeakState> ReadPeak(const RegionPlace& place) {
  TableInfo accounts = {};
  constexpr uint64_t kAt = offsetof(RegionHeader, tables) +
                           static_cast<size_t>(Table::kPeakAccounts) * sizeof(TableInfo);
  if (place.layout != nullptr) {
    accounts = place.layout->tables[static_cast<size_t>(Table::kPeakAccounts)];
  } else if (!CopyInto(place, &accounts, kAt, sizeof accounts)) {
    return CutShort();
  }
  auto state = CopyState(place, accounts);
  // The highest of the segments that have ended. A half is written before it becomes the valid one.
  struct {
    std::atomic<uint32_t> generation;
    unsigned char between[offsetof(RegionHeader, kept_peaks) -
                          offsetof(RegionHeader, kept_generation) - sizeof(uint32_t)];
    KeptPeak peaks[2];
  } kept = {};
  if (!state || !CopyInto(place, &kept, offsetof(RegionHeader, kept_generation), sizeof kept)) {
    return state ? CutShort() : state;
  }
  if (kept.generation != 0) {
    const uint64_t peak = kept.peaks[kept.generation % 2].peak;
    state->peak = std::clamp(peak, state->peak, kPeakMaxBytes);
  }
  return state;
}

}  // namespace memprof
