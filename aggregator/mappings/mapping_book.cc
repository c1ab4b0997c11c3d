#include "aggregator/mappings/mapping_book.h"

#include <algorithm>
#include <cstring>

#include "aggregator/tables/stack_table.h"

namespace memprof {
namespace {

constexpr uint32_t kMostSites = MappingBook::kSiteSlots / 4 * 3;
// The last sites are for the row "[tables full]": one of each kind.
constexpr uint32_t kLastSites = 2 * kMappingKinds;

template <typename Word>
Word Get(const std::atomic<Word>& word) {
  return word.load(std::memory_order_relaxed);
}
template <typename Word>
void Set(std::atomic<Word>& word, Word value) {
  word.store(value, std::memory_order_relaxed);
}
template <typename Word>
void Add(std::atomic<Word>& word, Word value) {  // there is one writer
  Set<Word>(word, Get(word) + value);
}

uint64_t Mixed(uint64_t key) {
  key *= 0x9e3779b97f4a7c15ull;
  return key ^ key >> 32;
}

uint64_t BytesOf(const MappedRange& range) { return Get(range.end) - Get(range.start); }

}  // namespace

// --- ranges --------------------------------------------------------------------------------------

template <typename Visit>
void MappingBook::ForEachOlder(uint64_t start, uint64_t end, uint64_t stamp, Visit visit) {
  for (uint32_t at = ranges_.FirstAbove(start), next; at != kNoRecord; at = next) {
    const MappedRange& range = ranges_.Range(at);
    if (Get(range.start) >= end) return;
    next = ranges_.Next(at);
    if (range.stamp < stamp) visit(at);
  }
}

bool MappingBook::HasNewer(uint64_t start, uint64_t end, uint64_t stamp) const {
  for (uint32_t at = ranges_.FirstAbove(start); at != kNoRecord; at = ranges_.Next(at)) {
    const MappedRange& range = ranges_.Range(at);
    if (Get(range.start) >= end) return false;
    if (range.stamp > stamp) return true;
  }
  return false;
}

bool MappingBook::IsInsideOlder(uint64_t address, uint64_t stamp) const {
  const uint32_t at = ranges_.FirstAbove(address);
  return at != kNoRecord && Get(ranges_.Range(at).start) < address &&
         ranges_.Range(at).stamp < stamp;
}

// Pre: there is room.
void MappingBook::CutAt(uint64_t address, uint64_t stamp) {
  if (!IsInsideOlder(address, stamp)) return;
  const uint32_t at = ranges_.FirstAbove(address);
  ++Mapping(Get(ranges_.Range(at).mapping_plus_one) - 1).ranges;
  ranges_.Split(at, address);
}

// Cuts older ranges at `start` and `end`. False: there is no room for that and for `more` ranges;
// nothing is cut.
bool MappingBook::Cut(uint64_t start, uint64_t end, uint64_t stamp, uint32_t more) {
  const uint32_t cuts = uint32_t{IsInsideOlder(start, stamp)} + uint32_t{IsInsideOlder(end, stamp)};
  if (ranges_.room() < cuts + more) return false;
  CutAt(start, stamp);
  CutAt(end, stamp);
  return true;
}

MappingWhat MappingBook::WhatOf(uint32_t range) const {
  const uint32_t mapping = Get(ranges_.Range(range).mapping_plus_one) - 1;
  return UnpackMappingWhat(Site(Get(Mapping(mapping).site_plus_one) - 1).what);
}

uint64_t MappingBook::MappedIn(uint64_t start, uint64_t end, uint64_t stamp) {
  uint64_t bytes = 0;
  if (start >= end) return bytes;
  ForEachOlder(start, end, stamp, [&](uint32_t at) {
    if (WhatOf(at).reserved) return;
    const MappedRange& range = ranges_.Range(at);
    bytes += std::min(Get(range.end), end) - std::max(Get(range.start), start);
  });
  return bytes;
}

// --- figures -------------------------------------------------------------------------------------

// As PeakTracker, with one writer: called before the sites are changed.
void MappingBook::Enter(uint64_t added, uint64_t removed) {
  MappingTotals& sum = totals();
  const uint64_t now = Get(sum.mapped_bytes) + added - removed;
  Set(sum.mapped_bytes, now);
  if (now > Get(sum.peak_bytes)) {
    Set(sum.peak_bytes, now);
    Set(sum.armed, 1u);
  } else if (Get(sum.armed) != 0) {
    Add<uint64_t>(sum.epoch, 1);
    Set(sum.armed, 0u);
  }
}

MappingSiteRecord& MappingBook::Changing(uint32_t site) {
  MappingSiteRecord& record = Site(site);
  const uint64_t epoch = Get(totals().epoch);
  if (Get(record.epoch) != epoch) {
    Set(record.peak_bytes, Get(record.live_bytes));
    Set(record.peak_count, Get(record.live_count));
    Set(record.epoch, epoch);
  }
  return record;
}

// kNoRecord: not even the row "[tables full]" has room.
uint32_t MappingBook::SiteOf(uint32_t site, uint32_t what) {
  for (const uint32_t key : {site, kTablesFullSite}) {
    uint64_t slot = Mixed(uint64_t{key} << 32 | what) % kSiteSlots;
    for (; index_[slot] != 0; slot = (slot + 1) % kSiteSlots) {
      const MappingSiteRecord& record = Site(index_[slot] - 1);
      if (Get(record.site_plus_one) == key + 1 && record.what == what) return index_[slot] - 1;
    }
    const uint32_t most = kMostSites + (key == kTablesFullSite ? kLastSites : 0);
    if (region_.count(Table::kMappingSites) >= most) continue;
    const uint32_t taken = region_.Take(Table::kMappingSites);
    if (taken == kNoRecord) continue;
    Site(taken).what = what;
    Site(taken).site_plus_one.store(key + 1, std::memory_order_release);
    index_[slot] = taken + 1;
    return taken;
  }
  return kNoRecord;
}

// 0: not known.
uint32_t MappingBook::FileOf(const MappingEvent& event) {
  const uint32_t bytes = event.file_bytes;
  if (bytes == 0) return 0;
  uint64_t hash = bytes;
  for (uint32_t i = 0; i < bytes; ++i) hash = Mixed(hash ^ static_cast<uint8_t>(event.file[i]));
  auto* records = region_.Records<MappedFileRecord>(Table::kMappedFiles);
  char* strings = region_.Records<char>(Table::kStrings);
  uint32_t* files = index_ + kSiteSlots;
  uint64_t slot = hash % kFileSlots;
  for (; files[slot] != 0; slot = (slot + 1) % kFileSlots) {
    const MappedFileRecord& record = records[files[slot] - 1];
    if (Get(record.path_bytes) == bytes &&
        memcmp(strings + Get(record.path_offset), event.file, bytes) == 0) {
      return files[slot];
    }
  }
  if (region_.count(Table::kMappedFiles) == region_.capacity(Table::kMappedFiles)) return 0;
  const uint32_t path = region_.Take(Table::kStrings, bytes);
  const uint32_t file = path == kNoRecord ? kNoRecord : region_.Take(Table::kMappedFiles);
  if (file == kNoRecord) return 0;
  memcpy(strings + path, event.file, bytes);
  Set(records[file].path_offset, path);
  records[file].path_bytes.store(bytes, std::memory_order_release);
  return files[slot] = file + 1;
}

// Adds a mapping of the site, without a range yet. There is always a record: each mapping has a
// range, and there are as many records as ranges.
uint32_t MappingBook::NewMapping(uint32_t site) {
  uint32_t mapping;
  if (free_mapping_plus_one_ != 0) {
    mapping = free_mapping_plus_one_ - 1;
    free_mapping_plus_one_ = Mapping(mapping).ranges;
  } else {
    mapping = region_.Take(Table::kMappings);
  }
  Mapping(mapping).ranges = 0;
  Mapping(mapping).site_plus_one.store(site + 1, std::memory_order_release);
  MappingSiteRecord& record = Changing(site);
  Add<uint64_t>(record.live_count, 1);
  Add<uint64_t>(record.total_count, 1);
  return mapping;
}

void MappingBook::Join(uint32_t mapping, uint64_t bytes) {
  ++Mapping(mapping).ranges;
  MappingSiteRecord& record = Changing(Get(Mapping(mapping).site_plus_one) - 1);
  Add(record.live_bytes, bytes);
  Add(record.total_bytes, bytes);
}

void MappingBook::Leave(uint32_t mapping, uint64_t bytes) {
  MappingRecord& left = Mapping(mapping);
  MappingSiteRecord& record = Changing(Get(left.site_plus_one) - 1);
  Add(record.live_bytes, ~bytes + 1);
  if (--left.ranges != 0) return;
  Add(record.live_count, ~uint64_t{0});
  Set(left.site_plus_one, 0u);
  left.ranges = free_mapping_plus_one_;
  free_mapping_plus_one_ = mapping + 1;
}

void MappingBook::Take(uint64_t start, uint64_t end, uint64_t stamp) {
  ForEachOlder(start, end, stamp, [&](uint32_t at) {
    const uint32_t mapping = Get(ranges_.Range(at).mapping_plus_one) - 1;
    const uint64_t bytes = BytesOf(ranges_.Range(at));
    ranges_.Remove(at);
    Leave(mapping, bytes);
  });
}

// --- events --------------------------------------------------------------------------------------

bool MappingBook::Unmap(const MappingEvent& event) {
  bool any = false;
  ForEachOlder(event.from, event.from_end, event.from_stamp, [&](uint32_t) { any = true; });
  if (!any) return true;  // not the program's mapping
  if (!Cut(event.from, event.from_end, event.from_stamp, 0)) return false;
  Enter(0, MappedIn(event.from, event.from_end, event.from_stamp));
  Take(event.from, event.from_end, event.from_stamp);
  return true;
}

bool MappingBook::Map(const MappingEvent& event) {
  MappingWhat what = event.what;
  if (event.kind == MappingEvent::Kind::kMove) {
    // The memory there keeps its kind.
    const uint32_t old = ranges_.FirstAbove(event.from);
    if (old != kNoRecord && Get(ranges_.Range(old).start) <= event.from &&
        ranges_.Range(old).stamp < event.stamp) {
      what = WhatOf(old);
    }
  } else {
    what.file_plus_one = FileOf(event);
  }
  if (HasNewer(event.start, event.end, event.stamp)) return false;
  const uint32_t site = SiteOf(event.site, Pack(what));
  if (site == kNoRecord || !Cut(event.from, event.from_end, event.from_stamp, 3) ||
      !Cut(event.start, event.end, event.stamp, 1)) {
    return false;
  }
  const uint64_t bytes = event.end - event.start;
  const uint64_t twice = MappedIn(std::max(event.start, event.from),
                                  std::min(event.end, event.from_end), event.from_stamp);
  Enter(what.reserved ? 0 : bytes, MappedIn(event.from, event.from_end, event.from_stamp) +
                                       MappedIn(event.start, event.end, event.stamp) - twice);
  Take(event.from, event.from_end, event.from_stamp);
  Take(event.start, event.end, event.stamp);
  const uint32_t mapping = NewMapping(site);
  ranges_.Insert(event.start, event.end, mapping, event.stamp);
  Join(mapping, bytes);
  return true;
}

bool MappingBook::Protect(const MappingEvent& event) {
  const bool reserved = event.what.reserved;
  bool any = false;
  ForEachOlder(event.from, event.from_end, event.from_stamp,
               [&](uint32_t at) { any |= WhatOf(at).reserved != reserved; });
  if (!any) return true;
  if (!Cut(event.from, event.from_end, event.from_stamp, 0)) return false;
  uint64_t bytes = 0;
  ForEachOlder(event.from, event.from_end, event.from_stamp, [&](uint32_t at) {
    if (WhatOf(at).reserved != reserved) bytes += BytesOf(ranges_.Range(at));
  });
  Enter(reserved ? 0 : bytes, reserved ? bytes : 0);
  uint32_t last = kNoRecord, last_is_now = kNoRecord;
  bool fine = true;
  ForEachOlder(event.from, event.from_end, event.from_stamp, [&](uint32_t at) {
    MappingWhat what = WhatOf(at);
    if (what.reserved == reserved) return;
    what.reserved = reserved;
    MappedRange& range = ranges_.Range(at);
    const uint32_t old = Get(range.mapping_plus_one) - 1;
    const uint32_t place = Get(Site(Get(Mapping(old).site_plus_one) - 1).site_plus_one) - 1;
    const uint32_t site = SiteOf(place, Pack(what));
    if (site == kNoRecord) {
      fine = false;
      return;
    }
    Leave(old, BytesOf(range));
    if (old != last) {
      last = old;
      last_is_now = NewMapping(site);
    }
    Set(range.mapping_plus_one, last_is_now + 1);
    Join(last_is_now, BytesOf(range));
  });
  return fine;
}

void MappingBook::Book(const MappingEvent& event) {
  MappingTotals& sum = totals();
  const uint32_t sequence = Get(sum.sequence);
  Set(sum.sequence, sequence + 1);
  std::atomic_thread_fence(std::memory_order_release);
  bool booked = index_ != nullptr;
  if (booked) {
    booked = event.kind == MappingEvent::Kind::kUnmap     ? Unmap(event)
             : event.kind == MappingEvent::Kind::kProtect ? Protect(event)
                                                          : Map(event);
  }
  Add<uint64_t>(booked ? sum.booked : sum.lost, 1);
  sum.sequence.store(sequence + 2, std::memory_order_release);
}

}  // namespace memprof
