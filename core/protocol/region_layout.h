// The region: the shared memory in which the tracker counts and from which the supervisor reads.
// All else that the two share is in this folder, too.
//
//   page 0         RegionHeader
//   table k        header.tables[k]: offset, capacity, record size; dense, append-only
//
//   kModules       ModuleRecord     a mapped ELF file that some recorded frame lies in
//   kStrings       char             bytes that ModuleRecords point into
//   kThreadNames   ThreadNameRecord names at allocation; record 0 is "[other threads]"
//   kNodes         NodeRecord       the call tree: (parent, pc); node 0 is the root, without a pc
//   kSites         SiteRecord       (leaf node, thread name, allocator; while sampling also
//                                   size class): the key of the figures
//   kCellChunks    CellChunk        64 cells; a cell has the figures of one site in one thread's
//                                   slot. The slots' chunks are at the front, as many as are
//                                   published; the chunks of shared cells are at the end, one for
//                                   each 64 sites
//   kSharedGroups  uint64_t         a bit for each 64 sites: their chunk of shared cells is in use
//   kDetailChunks  DetailChunk      further figures of the cells in the chunk of equal index; the
//                                   chunks in use are those of kCellChunks
//   kSizeCounts    SizeCounts       for cells with blocks of several size classes
//   kPeakRows      PeakRow          each site's figures at the highest peak of an ended
//                                   segment, by the site's index. Two halves, used in turn:
//                                   RegionHeader.kept_peaks says which one is valid
//   kNamedMoments  NamedMomentRecord  named moments that the program took, in the order in which
//                                   the names came
//   kNamedMomentRows  NamedMomentRow  … and what was live then, by site
//   kMappingSites … kMappedRanges   what the program mapped itself (mapping_layout.h)
//   kSlots         SlotRecord       the thread that has each slot, by the slot's number
//   kChunkOwners   uint32_t         number of the slot, plus one, that has the chunk of
//                                   kCellChunks with the same index; 0: none. Of these two tables
//                                   no records are taken: counts[] of both stays 0
//   kPythonCodes, kPythonBytes      code of a Python interpreter (python_layout.h)
//   kPeakAccounts  PeakAccount      what threads count in while the heap is far below its peak, by
//                                   the slot's number plus one (peak_accounts.h). No records are
//                                   taken of it either
//
// A worked example. Thread "main" calls main → f → malloc(100) and a thread "io" frees the block:
//   nodes  1 = (parent 0, pc in _start)  2 = (1, main+0x10)  3 = (2, f+0x8)
//   sites  0 = (node 3, name "main")
//   cells  of main's slot: {site 0, allocated 100/1}; of io's slot: {site 0, freed 100/1}
// The reader sums the cells of a site: allocated 100, freed 100, live 0.
//
// Thread safety: counts[] has the number of records taken from each table. A writer takes an index
// by a fetch_add on it, fills the record, and makes it reachable from another record by a release
// store. A reader may meet records below the count that are not filled yet. They are all zeros, and
// nothing refers to them. SiteRecord.node (never 0 when filled), Cell.site_plus_one and
// ModuleRecord.end are the fields that are released last.
//
// Ownership: a cell is written by the one thread that owns its slot. Shared cells are the
// exception: many threads write them with atomic adds.
//
// Invariant: the chunks taken by slots never meet the chunks reserved for the sites
// (RegionHeader.chunk_use). So what was booked at a site can always be taken back there.
//
// Memory: the file is sparse; only pages that were written are resident.
//
// Everything here is freestanding: no library, fixed widths, little endian, x86-64.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/protocol/heap_places.h"
#include "core/protocol/mapping_layout.h"
#include "core/protocol/peak_accounts.h"
#include "core/protocol/python_layout.h"

namespace memprof {

inline constexpr uint64_t kRegionMagic = 0x31524650524d454dull;  // "MEMRPFR1" as bytes
inline constexpr uint32_t kRegionVersion = 15;

enum class Table : uint32_t {
  kModules,
  kStrings,
  kThreadNames,
  kNodes,
  kSites,
  kCellChunks,
  kSharedGroups,
  kDetailChunks,
  kSizeCounts,
  kPeakRows,
  kNamedMoments,
  kNamedMomentRows,
  kMappingSites,
  kMappedFiles,
  kMappings,
  kMappedRanges,
  kSlots,
  kChunkOwners,
  kPythonCodes,
  kPythonBytes,
  kPeakAccounts,
  kCount,
};
inline constexpr size_t kTableCount = static_cast<size_t>(Table::kCount);

struct TableInfo {
  uint64_t offset;        // bytes from the start of the region, page aligned
  uint32_t capacity;      // records
  uint32_t record_bytes;  // sizeof the record, to detect a foreign layout
};

enum class TrackerState : uint32_t {
  kEmpty = 0,     // created; no tracker has come
  kCounting = 1,  // a tracker counts
  kFinished = 2,  // the tracker's destructor ran: a normal exit; events may still follow
  kStopped = 3,   // the tracker gave up; see stop_reason
};

enum class StopReason : uint32_t { kNone = 0, kNoMemory = 1, kBadRegion = 2, kNoFindObject = 3 };

// A pc below kFirstRealPc is no code address. It stands for one of these rows.
inline constexpr uint64_t kPcTruncated = 1;   // outer frames cut off: deeper than kMaxFrames
inline constexpr uint64_t kPcTablesFull = 2;  // the site or node table had no room
inline constexpr uint64_t kPcNoStack = 3;     // the unwinder found no frame at all
inline constexpr uint64_t kPcIncomplete = 4;  // outer frames unknown: no unwind data there
// blocks that a forked child had from its parent at the start
inline constexpr uint64_t kPcInherited = 5;
inline constexpr uint64_t kFirstRealPc = 4096;

inline constexpr uint32_t kNoModule = 0xffffffffu;
inline constexpr uint32_t kMaxFrames = 512;  // the innermost frames of a stack that are kept

struct ModuleRecord {
  uint64_t start;        // first mapped address
  uint64_t load_bias;    // address minus the address in the file's own terms (l_addr)
  uint32_t path_offset;  // in kStrings
  uint32_t path_bytes;
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  uint32_t reserved;
  std::atomic<uint64_t> end;  // one past the last mapped address; released last
};
static_assert(sizeof(ModuleRecord) == 72);

struct ThreadNameRecord {
  char name[16];  // the kernel's name: at most 15 bytes and a 0
};

struct NodeRecord {
  // For a Python frame a PythonWord. Otherwise the value on the stack: a return address. For a frame that a signal interrupted it is its pc +
  // 1, so that subtracting one is right for all.
  std::atomic<uint64_t> pc;
  uint32_t parent;
  uint32_t module;  // kNoModule: none known
};
static_assert(sizeof(NodeRecord) == 16);

struct SiteRecord {
  uint32_t label;              // SiteLabel
  std::atomic<uint32_t> node;  // released last
};
static_assert(sizeof(SiteRecord) == 8);

// Distinguishes the sites of one stack: the thread's name, the function of the allocator that was
// called (AllocatorKind), and for sampled blocks the size class (SizeClass), else 0.
inline constexpr uint32_t kThreadNameBits = 16;
inline constexpr uint32_t kSizeClassBits = 8;
inline constexpr uint32_t SiteLabel(uint32_t thread_name, uint32_t kind, uint32_t size_class) {
  return thread_name | size_class << kThreadNameBits | kind << (kThreadNameBits + kSizeClassBits);
}
inline constexpr uint32_t ThreadNameOf(uint32_t label) {
  return label & ((1u << kThreadNameBits) - 1);
}
inline constexpr uint32_t SizeClassOf(uint32_t label) {
  return label >> kThreadNameBits & ((1u << kSizeClassBits) - 1);
}
inline constexpr uint32_t KindOf(uint32_t label) {
  return label >> (kThreadNameBits + kSizeClassBits);
}

// The figures of one site in one thread slot. The counters are monotonic; live is derived.
struct alignas(64) Cell {
  std::atomic<uint32_t> site_plus_one;  // index of the site, plus one; 0: unused
  std::atomic<uint32_t> sequence;       // odd while the owner is inside an update
  std::atomic<uint64_t> epoch;          // of the last update
  std::atomic<uint64_t> allocated_bytes;
  std::atomic<uint64_t> allocated_count;
  std::atomic<uint64_t> freed_bytes;
  std::atomic<uint64_t> freed_count;
  std::atomic<int64_t> peak_bytes;  // live bytes of this cell when `epoch` began (may be negative:
  std::atomic<int64_t> peak_count;  // a block may be freed in another slot than it came from)
};
static_assert(sizeof(Cell) == 64);

inline constexpr uint32_t kCellsPerChunk = 64;
struct CellChunk {
  Cell cells[kCellsPerChunk];
};
static_assert(sizeof(CellChunk) == 4096);
inline constexpr uint32_t kMaxCellChunks = 1u << 18;

// The shared cells of group g, for the sites 64 g to 64 g + 63, are in the chunk capacity − 1 − g.
inline constexpr uint32_t SharedGroupOf(uint32_t site) { return site / kCellsPerChunk; }
inline constexpr uint32_t kGroupsPerWord = 64;

// Threads count in slots (aggregator/tables/thread_slot.h).
inline constexpr uint32_t kMaxSlots = 1024;
static_assert(kMaxSlots == 1u << kSlotBits);
inline constexpr uint32_t kPeakAccounts = kMaxSlots + 1;

// The owner of a slot if its tid may not be asked for (a filter of system calls), or if the tracker
// might not see the thread's end. The tracker never takes such a thread for dead, the reader never
// for alive.
inline constexpr uint32_t kUnknownOwner = 0xffffffffu;

// Which thread has a slot. Only the slot's owner writes it.
// Memory order: for a new owner, `taken` is stored before `owner`, and both before the owner's first
// cell is in use. `owner` is released, and acquired by the reader.
struct SlotRecord {
  std::atomic<uint32_t> owner;  // tid; 0: none, as the last owner has ended
  std::atomic<uint32_t> taken;  // number of owners until now; it stays at the largest number
};
static_assert(sizeof(SlotRecord) == 8);

// How the chunks of cells are divided: RegionHeader.chunk_use.
struct ChunkUse {
  uint32_t own;     // taken by thread slots, from the front
  uint32_t groups;  // groups of sites for which a chunk is reserved at the end
};
inline constexpr uint64_t Pack(const ChunkUse& use) { return uint64_t{use.groups} << 32 | use.own; }
inline constexpr ChunkUse UnpackChunkUse(uint64_t word) {
  return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
}

// Further figures of a cell, written by the cell's writer within the same odd sequence.
struct alignas(32) CellDetails {
  std::atomic<uint64_t> temporary_bytes;  // bytes of blocks that were freed as temporary ones
  std::atomic<uint64_t> temporary_count;
  // The sizes of the blocks that were allocated:
  //   0                     none was allocated
  //   class + 1             all are of that size class
  //   kOwnSizes | index     in this record of kSizeCounts
  //   kSizesElsewhere       in RegionHeader.other_sizes
  std::atomic<uint32_t> sizes;
  // That of the cell, for the tracker: a thread that frees another's block looks for it here, since
  // the cell itself is written at each event of its owner.
  std::atomic<uint32_t> site_plus_one;
  uint64_t reserved;
};
static_assert(sizeof(CellDetails) == 32);
inline constexpr uint32_t kOwnSizes = 0x80000000u;
inline constexpr uint32_t kSizesElsewhere = 0xffffffffu;

struct DetailChunk {
  CellDetails details[kCellsPerChunk];
};
static_assert(sizeof(DetailChunk) == 2048);

// Sizes are counted by powers of two (SizeClass): class 0 has blocks of 0 bytes, class k those of
// 2^(k−1) to 2^k − 1. Blocks of 2^47 bytes or more are not counted at all.
inline constexpr uint32_t kSizeClasses = 48;
struct SizeCounts {
  struct {
    std::atomic<uint64_t> bytes;
    std::atomic<uint64_t> count;
  } classes[kSizeClasses];
};
static_assert(sizeof(SizeCounts) == 768);

// The 16-byte word that orders all events of the process (PeakTracker). A reader finds the rows at
// the peak in the cells:
//
//   armed                                  the cell's live figures
//   not armed, cell.epoch == epoch         the cell's peak_* figures
//   not armed, cell.epoch is older         the cell's live figures
//
// While the heap is far below its peak, the word has no current bytes but names a generation of
// accounts (peak_accounts.h). All else in it stands still meanwhile, so the rows at the peak are
// found in the same way.
struct PeakState {
  // The live requested bytes that threads have added, below 2^46. It may be negative for a while if
  // threads hold back allocations. 0 while `far`.
  int64_t current;
  uint64_t peak;   // highest `current` of this segment
  uint64_t epoch;  // 33 bits; moves at most once for each new maximum, and at each mark
  bool armed;      // the newest maximum is now; never while `far`
  bool far = false;
  uint64_t generation = 0;  // if `far`
  friend bool operator==(const PeakState&, const PeakState&) = default;
};

struct alignas(16) PackedPeak {
  uint64_t low;   // current + kPeakBias, or kLeastFar + generation : 47 | epoch bits 0..16 : 17
  uint64_t high;  // peak : 47 | armed or far : 1 | epoch bits 17..32 : 16
  friend bool operator==(const PackedPeak&, const PackedPeak&) = default;
};

inline constexpr uint64_t kPeakMaxBytes = (1ull << 47) - 1;

// More than all threads together may hold back (aggregator/tables/peak_tracker.h).
inline constexpr int64_t kPeakBias = int64_t{1} << 38;

// The largest values of `low` name generations. That is told by `low` alone, which is looked at
// again to see whether the word has changed.
inline constexpr uint64_t kLeastFar = kPeakMaxBytes + 1 - (uint64_t{1} << kGenerationBits);
inline constexpr int64_t kMostCurrent = static_cast<int64_t>(kLeastFar) - 1 - kPeakBias;

inline constexpr bool IsFar(const PackedPeak& p) { return (p.low & kPeakMaxBytes) >= kLeastFar; }
// One bit, so that the usual event tests it once.
inline constexpr bool IsArmedOrFar(const PackedPeak& p) { return ((p.high >> 47) & 1) != 0; }
inline constexpr uint64_t EpochOf(const PackedPeak& p) {
  return (p.low >> 47) | ((p.high >> 48) << 17);
}

// Epochs have 33 bits and come round; 0 is that of cells and words before any event, and doesn't come
// again. Nothing is as much as 2^28 epochs later than what is looked at beside it: at the most that was
// measured, 24 million a second, that takes 11 s. A cell may be much older, since nothing touches it.
inline constexpr uint64_t kEpochMask = (uint64_t{1} << 33) - 1;
inline constexpr uint64_t NextEpoch(uint64_t epoch) { return epoch == kEpochMask ? 1 : epoch + 1; }
inline constexpr bool IsEpochAfter(uint64_t epoch, uint64_t other) {
  return epoch != 0 && epoch != other && ((epoch - other) & kEpochMask) < uint64_t{1} << 28;
}
inline constexpr bool IsEpochBefore(uint64_t epoch, uint64_t other) {
  return epoch != other && !IsEpochAfter(epoch, other);
}

inline constexpr PackedPeak Pack(const PeakState& s) {
  const uint64_t value =
      s.far ? kLeastFar + s.generation : static_cast<uint64_t>(s.current + kPeakBias);
  return {value | (s.epoch << 47),
          s.peak | (uint64_t{s.armed || s.far} << 47) | ((s.epoch >> 17) << 48)};
}
inline constexpr PeakState Unpack(const PackedPeak& p) {
  const uint64_t value = p.low & kPeakMaxBytes;
  const bool far = IsFar(p);
  return {far ? 0 : static_cast<int64_t>(value) - kPeakBias,
          p.high & kPeakMaxBytes,
          EpochOf(p),
          IsArmedOrFar(p) && !far,
          far,
          far ? value - kLeastFar : 0};
}

// When the word may become far: it doesn't pay if the heap is mostly close to its peak
// (aggregator/tables/peak_tracker.h). Any thread may write it; a lost update costs speed only.
struct PeakPolicy {
  std::atomic<int32_t> near_for;  // number of near events to go before the word may become far
  std::atomic<uint16_t> level;    // how long it stays near after the next close, as a power of two
  std::atomic<uint16_t> active;   // number of accounts that were joined in the last generation
};
static_assert(sizeof(PeakPolicy) == 8);

// Segments. A mark (the begin or end of a scope, a named moment) ends a segment of the run and
// begins the next one. The new segment's `peak` starts with what is live. The word has only the
// newest segment's peak; the highest of the segments before is kept here, by site. The run's peak
// is the higher of the two, and the kept one if they are equal.
struct PeakRow {
  std::atomic<int64_t> bytes;  // may be negative, as in Cell
  std::atomic<int64_t> count;
};
static_assert(sizeof(PeakRow) == 16);

struct KeptPeak {
  std::atomic<uint64_t> peak;         // according to the word
  std::atomic<uint64_t> bound_bytes;  // the error bound of the rows: events raced the mark
  std::atomic<uint32_t> sites;        // number of rows that are filled
  uint32_t reserved;
};

// A named moment that the program took, and what was live then.
inline constexpr uint32_t kMaxNamedMomentRecords = 64;
struct NamedMomentRecord {
  std::atomic<uint32_t> sequence;   // odd while it is written; 0: never written
  std::atomic<uint32_t> inexact;    // 1: events raced its reading
  std::atomic<uint32_t> first_row;  // in kNamedMomentRows
  std::atomic<uint32_t> rows;
  std::atomic<uint64_t> time_ns;  // since the tracker started (RegionHeader.started_ns)
  uint32_t row_room;              // rows reserved for it from first_row; only the writer uses it
  uint32_t reserved;
  char name[64];  // at most 63 bytes and a 0
};
static_assert(sizeof(NamedMomentRecord) == 96);

struct NamedMomentRow {
  uint32_t site;
  uint32_t count;
  uint64_t bytes;
};
static_assert(sizeof(NamedMomentRow) == 16);

// A jemalloc inside the executable, whose malloc can't be interposed: the addresses of its
// functions in the file's own terms. mallctl is 0 if there is none, or none that can be hooked.
inline constexpr uint32_t kMaxAllocatorRanges = 8;
struct CodeRange {
  uint64_t start, end;
};
struct InnerJemalloc {
  uint64_t mallctl, mallocx, dallocx;
  CodeRange code[kMaxAllocatorRanges];  // jemalloc's own code: its frames are left out of stacks
};

// RegionHeader.bypasses: kinds of allocations that no hook sees.
inline constexpr uint32_t kDeepBound = 1;  // of modules opened with RTLD_DEEPBIND
inline constexpr uint32_t kOtherNamespace =
    2;  // of modules opened in a namespace with its own libc

enum class JemallocHooks : uint32_t { kNone = 0, kInstalled = 1, kRefused = 2 };

// The tracker's options; the region's creator writes them.
struct TrackerOptions {
  uint32_t exact_peak = 0;  // 1: threads hold nothing back from the ordering word
  // A block is temporary if its thread frees it before making this many other allocations; 1 to 64.
  uint32_t temporary_threshold = 1;
  uint64_t sample_bytes =
      // mean distance between sampled blocks in bytes; 0: every block is counted
      0;
  uint64_t sample_seed = 0;  // seed of the random draws
  uint32_t mappings = 1;     // 1: mappings of the program are followed
  uint32_t python = 1;       // 1: stacks have the frames of a Python interpreter
  // 1: an interpreter's objects are counted, instead of the arenas that it keeps them in
  uint32_t python_objects = 0;
  uint32_t look_at_exit = 0;  // 1: wait before the exit handlers (RegionHeader.exit_look)
  InnerJemalloc jemalloc = {};
};

// RegionHeader.exit_look; further values: the supervisor is at it.
inline constexpr uint32_t kExitLookAsked = 1;
inline constexpr uint32_t kExitLookDone = 2;

// Facts about the process that a supervisor would know otherwise, in a region that the tracker made
// itself (core/protocol/unsupervised.h). All zero in any other region.
struct RegionOrigin {
  std::atomic<uint32_t> unsupervised;  // 1: the tracker made it
  // argument of exit(), plus one; 0: no exit() was seen
  std::atomic<uint32_t> exit_status_plus_one;
  int64_t start_unix_ms;
  uint64_t run_id;                 // random
  std::atomic<uint64_t> ended_ns;  // CLOCK_MONOTONIC when the process exited; 0: no exit was seen
  // In kStrings: the program's name and its command line, each word followed by a 0; text_bytes is
  // released last.
  uint32_t text_offset;
  std::atomic<uint32_t> text_bytes;
  char trouble[128];  // why nothing is counted, as the end of a sentence; empty: counting
};

struct RegionHeader {
  // Written by the creator, before any tracker starts.
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint64_t region_bytes;
  TableInfo tables[kTableCount];
  TrackerOptions options;

  // Rarely written by the tracker.
  alignas(64) std::atomic<uint32_t> state;  // TrackerState
  std::atomic<uint32_t> stop_reason;        // StopReason
  uint32_t pid;                             // as the process sees itself
  // Bytes that a thread may hold back from `peak`. Kept here, so that reading it doesn't touch the
  // line of `peak`.
  std::atomic<uint32_t> peak_slack;
  std::atomic<uint64_t> rss_peak_bytes;  // VmHWM at exit; 0: not known
  std::atomic<uint32_t> fork_children;   // forked children that were not counted
  uint32_t reserved_1;
  std::atomic<uint64_t> chunk_use;  // ChunkUse; own + groups never exceeds the number of chunks

  // Records taken from each table. A count above the capacity means that requests were refused.
  alignas(64) std::atomic<uint32_t> counts[kTableCount];

  // Orders all events. It has a cache line of its own, since every thread writes it.
  alignas(64) PackedPeak peak;
  PeakPolicy peak_policy;
  // upper bound of what all threads may have held back, in bytes
  std::atomic<uint64_t> peak_slack_bound;

  // Written at marks, by one thread at a time.
  // 0: nothing is kept; else kept_peaks[kept_generation % 2] and that half of kPeakRows are valid
  alignas(64) std::atomic<uint32_t> kept_generation;
  uint32_t reserved_2;
  uint64_t started_ns;  // CLOCK_MONOTONIC when the tracker started
  KeptPeak kept_peaks[2];

  // Counters of trouble.
  alignas(64) std::atomic<uint64_t> dropped_events;  // events that are in no figure
  std::atomic<uint64_t> truncated_stacks;    // allocations whose stack was cut (kPcTruncated)
  std::atomic<uint64_t> incomplete_stacks;   // allocations whose outer frames are unknown
  std::atomic<uint64_t> tables_full_events;  // allocations booked under kPcTablesFull
  std::atomic<uint64_t> unknown_frees;       // frees of blocks that the tracker never saw allocated
  // Bytes booked in shared cells. The rows at the peak may be wrong by at most this; the peak's
  // total is exact.
  std::atomic<uint64_t> shared_bytes;
  std::atomic<uint64_t> private_bytes;   // resident memory of the tracker outside the region
  std::atomic<uint64_t> unnamed_frames;  // nodes in files that kModules or kStrings has no room for

  // Block sizes of cells without a size record of their own: shared cells, and cells that were made
  // when kSizeCounts was full. Written with atomic adds.
  alignas(64) SizeCounts other_sizes;

  // Frees of blocks that an attached tracker didn't see allocated: older blocks, and those from
  // calls that it could not hook. Bytes are the allocator's; 0 if it doesn't tell.
  alignas(64) std::atomic<uint64_t> before_attach_frees;
  std::atomic<uint64_t> before_attach_bytes;
  std::atomic<uint32_t> attached;  // 1: the tracker was attached
  alignas(64) MappingTotals mappings;
  alignas(64) AllocatorFigures allocator;
  std::atomic<uint32_t> allocator_wanted;  // the reader increments it to ask for new figures
  uint32_t reserved_3;
  std::atomic<uint32_t> jemalloc_hooks;  // JemallocHooks: which of options.jemalloc were hooked
  // kDeepBound and others: such allocations exist, or may exist
  std::atomic<uint32_t> bypasses;
  // The main thread's last new name, as bytes padded with zeros; all zeros if no hook saw one. The
  // kernel gives the process this name until it executes another program.
  std::atomic<uint64_t> main_thread_name[2];
  alignas(64) RegionOrigin origin;
  std::atomic<uint32_t> python;          // PythonState
  std::atomic<uint32_t> python_version;  // as PY_VERSION_HEX, as far as it is known
  // allocations whose Python frames could not be read: their stacks have native frames only
  std::atomic<uint64_t> python_unread;
  std::atomic<uint32_t> python_objects;  // PythonObjects
  // The tracker asks for a look at the heap before the program's exit handlers run; the supervisor
  // changes the word for as long as it is at it, and then sets it to kExitLookDone.
  std::atomic<uint32_t> exit_look;
  alignas(64) HeapPlaces heap;
};
static_assert(sizeof(RegionHeader) <= 4096);

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint32_t kMaxTemporaryThreshold = 64;
inline constexpr uint32_t kMaxMappedFiles = 1024;
inline constexpr uint32_t kMaxSizeCounts = 2048;  // 1.5 MiB at full capacity

// Fills `header` (all zero) for a region of about `budget_bytes` of address space, and returns the
// number of bytes that the region needs: the tables scale with the budget, and never fall below
// their minimum. The creator sets the file's size to the result.
inline uint64_t LayOutRegion(RegionHeader& header, uint64_t budget_bytes) {
  const uint64_t unit = budget_bytes / 1024;
  auto at_least = [](uint64_t a, uint64_t b) { return a > b ? a : b; };
  // Shares of the budget: nodes 1/4, sites 1/32, cells 1/2 (two a site), details half of the cells,
  // rows of kept peaks 1/8, rows of named moments 1/32; the rest is small.
  const uint64_t wanted_chunks = at_least(unit * 512 / sizeof(CellChunk), 64);
  const uint64_t cell_chunks = wanted_chunks < kMaxCellChunks ? wanted_chunks : kMaxCellChunks;
  const uint64_t sites = at_least(unit * 32 / sizeof(SiteRecord), 1024);
  constexpr uint64_t kSitesPerWord = kCellsPerChunk * kGroupsPerWord;
  const uint64_t wanted_sizes = at_least(unit * 32 / sizeof(SizeCounts), 64);
  const uint64_t mappings = at_least(unit * 48 / sizeof(MappedRange), 1024);
  const uint64_t size_counts = wanted_sizes < kMaxSizeCounts ? wanted_sizes : kMaxSizeCounts;
  const uint64_t codes = at_least(unit * 16 / sizeof(PythonCodeRecord), 2048);
  const uint64_t python_codes = codes < kMaxPythonCodes ? codes : kMaxPythonCodes;
  const struct {
    Table table;
    uint64_t capacity;
    uint32_t record_bytes;
  } plan[] = {
      {Table::kModules, at_least(unit * 8 / sizeof(ModuleRecord), 4096), sizeof(ModuleRecord)},
      {Table::kStrings, at_least(unit * 8, 512 * 1024), 1},
      {Table::kThreadNames, 257, sizeof(ThreadNameRecord)},
      {Table::kNodes, at_least(unit * 256 / sizeof(NodeRecord), 4096), sizeof(NodeRecord)},
      {Table::kSites, sites, sizeof(SiteRecord)},
      {Table::kCellChunks, cell_chunks, sizeof(CellChunk)},
      {Table::kSharedGroups, (sites + kSitesPerWord - 1) / kSitesPerWord, sizeof(uint64_t)},
      {Table::kDetailChunks, cell_chunks, sizeof(DetailChunk)},
      {Table::kSizeCounts, size_counts, sizeof(SizeCounts)},
      {Table::kPeakRows, 2 * sites, sizeof(PeakRow)},
      {Table::kNamedMoments, kMaxNamedMomentRecords, sizeof(NamedMomentRecord)},
      {Table::kNamedMomentRows, at_least(unit * 32 / sizeof(NamedMomentRow), 1024),
       sizeof(NamedMomentRow)},
      {Table::kMappingSites, at_least(sites / 8, 256), sizeof(MappingSiteRecord)},
      {Table::kMappedFiles, kMaxMappedFiles, sizeof(MappedFileRecord)},
      {Table::kMappings, mappings, sizeof(MappingRecord)},
      {Table::kMappedRanges, mappings, sizeof(MappedRange)},
      {Table::kSlots, kMaxSlots, sizeof(SlotRecord)},
      {Table::kChunkOwners, cell_chunks, sizeof(uint32_t)},
      {Table::kPythonCodes, python_codes, sizeof(PythonCodeRecord)},
      {Table::kPythonBytes, at_least(unit * 64, 512 * 1024), 1},
      {Table::kPeakAccounts, kPeakAccounts, sizeof(PeakAccount)},
  };
  uint64_t offset = kPageBytes;
  for (const auto& p : plan) {
    header.tables[static_cast<size_t>(p.table)] = {offset, static_cast<uint32_t>(p.capacity),
                                                   p.record_bytes};
    offset += (p.capacity * p.record_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  header.magic = kRegionMagic;
  header.version = kRegionVersion;
  header.header_bytes = sizeof(RegionHeader);
  header.region_bytes = offset;
  header.peak = Pack({0, 0, 0, false});
  return offset;
}

}  // namespace memprof
