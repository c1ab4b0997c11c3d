// A region that another process writes, also while it is read: a small valid one with any words
// changed. It is used as the supervisor uses it (ReadPeak at every tick, ReadMoment, ReadRegion
// with the earlier results). The result must be a snapshot that a capture can hold and whose bound
// is true.
//
//   input   1 byte of flags:
//             0x01 a sealed memfd, read in place; else a file, copied
//             0x02 the program runs; else it has ended
//             0x08 the file is truncated while it is read
//           12 bytes a change: which table (or the header), when, which word of it, a value.
//             `when` 0: before the reads; n: in a file's n-th pread, so that the read is torn
//
// For one input in 64 a second process goes on writing during the reads, and for one in 64 a
// capture is made of the result: these cost ten times the rest. A sum over the input chooses them,
// not a bit of it: otherwise most of a corpus would become such inputs. An input that is run by
// itself gets both.
//
// After each input the changes are undone.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "core/region/region_history.h"
#include "core/region/region_reader.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"

namespace {

using namespace memprof;

constexpr size_t kPublished = 3;  // records of each table, but where there are more
constexpr int kRacedReads = 4;
constexpr uint64_t kDearOnceIn = 64;

bool g_one_input = false;  // a file is run, no corpus

struct Change {
  uint8_t table;  // from kTableCount on: the header
  uint8_t when;
  uint16_t word;
  uint64_t value;
};
static_assert(sizeof(Change) == 12 || sizeof(Change) == 16);
constexpr size_t kChangeBytes = 12;

class FuzzedRegion {
 public:
  explicit FuzzedRegion(bool sealed) : sealed_(sealed) {
    fd_ = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    RegionHeader layout = {};
    LayOutRegion(layout, 1 << 20);
    // Tables of a page each, cells of two: a wrong count makes a reader read them to the end.
    bytes_ = kPageBytes;
    for (size_t i = 0; i < kTableCount; ++i) {
      TableInfo& table = layout.tables[i];
      pages_[i] = i == static_cast<size_t>(Table::kCellChunks) ? 2 : 1;
      table.offset = bytes_;
      table.capacity = std::min<uint32_t>(
          table.capacity, static_cast<uint32_t>(pages_[i] * kPageBytes / table.record_bytes));
      bytes_ += pages_[i] * kPageBytes;
    }
    layout.region_bytes = bytes_;
    if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) std::abort();
    if (sealed) fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK);
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    if (base_ == MAP_FAILED) std::abort();
    std::memcpy(base_, &layout, sizeof layout);
    for (size_t i = 0; i < kTableCount; ++i) {
      offsets_[i] = layout.tables[i].offset;
      records_[i] = std::max<uint64_t>(layout.tables[i].record_bytes, 64);
    }
    Fill();
  }

  int fd() const { return fd_; }
  bool sealed() const { return sealed_; }

  void Apply(const Change& change) {
    if (cut_) return;
    uint64_t* word = WordOf(change);
    undo_.push_back({word, __atomic_load_n(word, __ATOMIC_RELAXED)});
    __atomic_store_n(word, change.value, __ATOMIC_RELAXED);
  }
  void Cut() {
    if (ftruncate(fd_, kPageBytes) != 0) std::abort();
    cut_ = true;
  }
  void Undo() {
    if (cut_ && ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) std::abort();
    while (!undo_.empty()) {
      __atomic_store_n(undo_.back().word, undo_.back().value, __ATOMIC_RELAXED);
      undo_.pop_back();
    }
    if (cut_) Fill();
    cut_ = false;
  }
  uint64_t* WordOf(const Change& change) const {
    uint64_t offset = 0;
    uint64_t bytes = sizeof(RegionHeader);
    if (change.table < kTableCount) {
      offset = offsets_[change.table];
      bytes = std::min(records_[change.table] * kPublished, pages_[change.table] * kPageBytes);
    }
    return reinterpret_cast<uint64_t*>(base_ + offset) + change.word % (bytes / 8);
  }

 private:
  struct Old {
    uint64_t* word;
    uint64_t value;
  };
  RegionHeader& header() { return *reinterpret_cast<RegionHeader*>(base_); }
  template <typename Record>
  Record& At(Table table, uint32_t index) {
    return reinterpret_cast<Record*>(base_ + offsets_[static_cast<size_t>(table)])[index];
  }

  // A small heap: two stacks, three cells and a shared one, a kept peak, a named moment. The cells
  // are of a thread that still runs.
  void Fill() {
    auto publish = [&](Table table, uint32_t n) {
      header().counts[static_cast<size_t>(table)] = n;
    };
    auto& module = At<ModuleRecord>(Table::kModules, 0);
    module.start = module.load_bias = 0x400000;
    module.path_bytes = 8;
    module.build_id_bytes = 20;
    module.end = 0x500000;
    std::memcpy(&At<char>(Table::kStrings, 0), "/bin/cat", 8);
    std::memcpy(At<ThreadNameRecord>(Table::kThreadNames, 1).name, "main", 5);
    for (uint32_t i = 1; i < 3; ++i) {
      auto& node = At<NodeRecord>(Table::kNodes, i);
      node.parent = i - 1;
      node.module = 0;
      node.pc = 0x400000 + i * 16;
      auto& site = At<SiteRecord>(Table::kSites, i - 1);
      site.label = SiteLabel(1, i, 0);
      site.node = i;
    }
    for (uint32_t i = 0; i < 3; ++i) {
      Cell& cell = At<CellChunk>(Table::kCellChunks, 0).cells[i];
      cell.site_plus_one = 1 + i % 2;
      cell.sequence = 2;
      cell.epoch = i;
      cell.allocated_bytes = 1000;
      cell.allocated_count = 10;
      cell.freed_bytes = 200;
      cell.freed_count = 2;
      cell.peak_bytes = 900;
      cell.peak_count = 9;
      At<DetailChunk>(Table::kDetailChunks, 0).details[i].sizes = i == 2 ? kOwnSizes | 1 : 8;
    }
    Cell& shared = At<CellChunk>(Table::kCellChunks, 1).cells[1];  // of site 1, in group 0
    shared.site_plus_one = 2;
    shared.freed_bytes = 100;
    shared.freed_count = 1;
    At<uint64_t>(Table::kSharedGroups, 0) = 1;
    At<SizeCounts>(Table::kSizeCounts, 1).classes[7].bytes = 1000;
    At<SizeCounts>(Table::kSizeCounts, 1).classes[7].count = 10;
    auto& named = At<NamedMomentRecord>(Table::kNamedMoments, 0);
    named.sequence = 2;
    named.rows = 2;
    named.row_room = 2;
    std::memcpy(named.name, "before", 7);
    At<NamedMomentRow>(Table::kNamedMomentRows, 0) = {0, 3, 300};
    At<NamedMomentRow>(Table::kNamedMomentRows, 1) = {1, 1, 50};
    At<PeakRow>(Table::kPeakRows, 0).bytes = 3000;
    At<SlotRecord>(Table::kSlots, 1).owner = 4712;
    At<SlotRecord>(Table::kSlots, 1).taken = 1;
    At<uint32_t>(Table::kChunkOwners, 0) = 2;
    header().pid = 4711;
    publish(Table::kModules, 1);
    publish(Table::kStrings, 8);
    publish(Table::kThreadNames, 2);
    publish(Table::kNodes, 3);
    publish(Table::kSites, 2);
    publish(Table::kCellChunks, 1);
    publish(Table::kDetailChunks, 1);
    publish(Table::kSizeCounts, 2);
    publish(Table::kPeakRows, 2);
    publish(Table::kNamedMoments, 1);
    publish(Table::kNamedMomentRows, 2);
    header().peak = Pack({2300, 2700, 2, false});
  }

  const bool sealed_;
  int fd_;
  uint64_t bytes_;
  unsigned char* base_;
  uint64_t offsets_[kTableCount];
  uint64_t records_[kTableCount];
  uint64_t pages_[kTableCount];
  std::vector<Old> undo_;
  bool cut_ = false;
};

// The changes that come in the middle of a read.
FuzzedRegion* g_read = nullptr;
std::vector<Change> g_later;
uint32_t g_reads = 0;
uint32_t g_cut_at = 0;  // 0: never

// The writer in the other process, as a thread: it goes from the old words to the new and back.
class Racer {
 public:
  Racer() : thread_([this] { Loop(); }) { thread_.detach(); }
  void Start(FuzzedRegion& region, const std::vector<Change>& changes) {
    words_.clear();
    for (const Change& change : changes) {
      uint64_t* const word = region.WordOf(change);
      words_.push_back({word, __atomic_load_n(word, __ATOMIC_RELAXED), change.value});
    }
    running_ = true;
    running_.notify_one();
  }
  void Stop() {
    running_ = false;
    while (inside_) std::this_thread::yield();
    for (auto at = words_.rbegin(); at != words_.rend(); ++at) {
      __atomic_store_n(at->word, at->old, __ATOMIC_RELAXED);
    }
  }

 private:
  struct Word {
    uint64_t* word;
    uint64_t old, other;
  };
  void Loop() {
    for (;;) {
      running_.wait(false);
      inside_ = true;
      while (running_) {
        for (const Word& w : words_) __atomic_store_n(w.word, w.other, __ATOMIC_RELAXED);
        for (const Word& w : words_) __atomic_store_n(w.word, w.old, __ATOMIC_RELAXED);
      }
      inside_ = false;
    }
  }
  std::vector<Word> words_;
  std::atomic<bool> running_{false};
  std::atomic<bool> inside_{false};
  std::thread thread_;
};

void Check(const CanonicalSnapshot& canonical, bool all) {
  const Snapshot& snapshot = *canonical;
  for (const SnapshotSite& site : snapshot.sites) {
    if (site.node >= snapshot.nodes.size() || site.thread_name >= snapshot.thread_names.size()) {
      std::abort();
    }
  }
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    if (snapshot.nodes[i].parent >= i || snapshot.nodes[i].frame >= snapshot.frames.size()) {
      std::abort();
    }
  }
  const uint64_t rows = SumPeak(snapshot).bytes;
  const uint64_t counter = snapshot.tracker.counter_peak_bytes;
  const uint64_t off = rows > counter ? rows - counter : counter - rows;
  if (off > snapshot.tracker.peak_bound_bytes) std::abort();
  if (rows < counter && rows + snapshot.tracker.unattributed_bytes != counter) std::abort();
  if (!all) return;
  const auto again = DecodeCapture(EncodeCapture(canonical));
  if (!again || !again->damage.empty() || again->snapshot != snapshot) std::abort();
}

void ReadAsTheSupervisorDoes(FuzzedRegion& region, EndKind end, bool all) {
  (void)ReadPeak(region.fd());
  RegionHistory history;
  for (uint64_t i = 0; i < 2; ++i) {
    const auto moment = ReadMoment(region.fd(), i * 16);
    if (!moment) continue;
    history.moments.push_back(*moment);
    if (i == 0) history.named.push_back({"asked", *moment, false});
  }
  history.moments_interval_ms = 16;
  SnapshotProgram program;
  program.end_kind = end;
  const auto snapshot = ReadRegion(region.fd(), program, history);
  if (snapshot) Check(*snapshot, all);
}

}  // namespace

// The readers' own, with what another process does meanwhile.
extern "C" ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  if (g_read != nullptr) {
    ++g_reads;
    for (const Change& change : g_later) {
      if (change.when == g_reads) g_read->Apply(change);
    }
    if (g_reads == g_cut_at) g_read->Cut();
  }
  return syscall(SYS_pread64, fd, to, bytes, offset);
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    struct stat file;
    if ((*argv)[i][0] != '-' && stat((*argv)[i], &file) == 0 && S_ISREG(file.st_mode)) {
      g_one_input = true;
    }
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static FuzzedRegion sealed(true), file(false);
  static Racer racer;
  if (size == 0) return 0;
  FuzzedRegion& region = (data[0] & 1) != 0 ? sealed : file;
  const uint64_t sum = XXH3_64bits(data, size);
  const bool raced = g_one_input || sum % kDearOnceIn == 0;
  const bool all = g_one_input || sum % kDearOnceIn == 1;
  const EndKind end = (data[0] & 2) != 0 ? EndKind::kRunning : EndKind::kExit;
  g_later.clear();
  g_reads = 0;
  g_cut_at = (data[0] & 8) != 0 && !region.sealed() ? 1 + data[0] / 16 : 0;
  std::vector<Change> racing;
  for (size_t at = 1; at + kChangeBytes <= size; at += kChangeBytes) {
    Change change;
    change.table = data[at] % (kTableCount + 4);
    change.when = data[at + 1] % 64;
    std::memcpy(&change.word, data + at + 2, sizeof change.word);
    std::memcpy(&change.value, data + at + 4, sizeof change.value);
    if (change.when == 0) {
      region.Apply(change);
    } else if (region.sealed()) {
      if (raced) racing.push_back(change);
    } else {
      g_later.push_back(change);
    }
  }
  g_read = &region;
  if (!racing.empty()) {
    racer.Start(region, racing);
    for (int i = 0; i < kRacedReads; ++i) ReadAsTheSupervisorDoes(region, end, all);
    racer.Stop();
  } else {
    ReadAsTheSupervisorDoes(region, end, all);
  }
  g_read = nullptr;
  region.Undo();
  return 0;
}
