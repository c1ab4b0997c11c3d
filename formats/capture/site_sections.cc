#include "formats/capture/site_sections.h"

#include <algorithm>
#include <vector>

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"

namespace memprof {
namespace {

constexpr uint32_t kLargestClass = 64;

// The classes, each as the difference from the one before.
void EncodeClasses(ByteWriter& out, const SizeHistogram& sizes) {
  uint32_t next = 0;
  for (const SizeShare& share : sizes) {
    out.Varint(share.size_class - next);
    next = share.size_class + 1;
  }
}

bool DecodeClasses(ByteReader& in, SizeHistogram& sizes) {
  uint64_t next = 0;
  for (SizeShare& share : sizes) {
    const uint64_t distance = in.Varint();
    if (distance > kLargestClass || next + distance > kLargestClass) return false;
    share.size_class = static_cast<uint32_t>(next + distance);
    next += distance + 1;
  }
  return true;
}

// The last share of a site is the rest of its total.
Count LeftOf(const Count& total, const SizeHistogram& sizes) {
  Count left = total;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    left.bytes -= sizes[i].count.bytes;
    left.allocations -= sizes[i].count.allocations;
  }
  return left;
}

bool NoneIsEmpty(const SizeHistogram& sizes) {
  return std::none_of(sizes.begin(), sizes.end(),
                      [](const SizeShare& share) { return share.count == Count(); });
}

}  // namespace

std::string EncodeKinds(const Snapshot& snapshot) {
  const auto& sites = snapshot.sites;
  if (std::all_of(sites.begin(), sites.end(),
                  [](const SnapshotSite& s) { return s.kind == AllocatorKind::kUnknown; })) {
    return {};
  }
  ByteWriter out;
  out.Varint(sites.size());
  for (const SnapshotSite& site : sites) out.Varint(static_cast<uint64_t>(site.kind));
  return out.bytes();
}

bool DecodeKinds(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  if (in.CountOfItems(1) != snapshot.sites.size()) return false;
  for (SnapshotSite& site : snapshot.sites) {
    const uint64_t kind = in.Varint();
    // An unknown number comes from a newer memprof.
    site.kind = kind < kAllocatorKinds ? static_cast<AllocatorKind>(kind) : AllocatorKind::kUnknown;
  }
  return !in.failed();
}

void ForgetKinds(Snapshot& snapshot) {
  for (SnapshotSite& site : snapshot.sites) site.kind = AllocatorKind::kUnknown;
}

std::string EncodeTemporary(const Snapshot& snapshot) {
  if (snapshot.tracker.temporary_threshold == 0) return {};
  ByteWriter out;
  out.Varint(snapshot.tracker.temporary_threshold);
  out.Varint(snapshot.sites.size());
  for (const SnapshotSite& site : snapshot.sites) out.Varint(site.temporary.bytes);
  for (const SnapshotSite& site : snapshot.sites) out.Varint(site.temporary.allocations);
  return out.bytes();
}

bool DecodeTemporary(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  const uint64_t threshold = in.Varint();
  if (threshold == 0 || threshold > kMaxTemporaryThreshold) return false;
  if (in.CountOfItems(2) != snapshot.sites.size()) return false;
  for (SnapshotSite& site : snapshot.sites) site.temporary.bytes = in.Varint();
  for (SnapshotSite& site : snapshot.sites) site.temporary.allocations = in.Varint();
  snapshot.tracker.temporary_threshold = static_cast<uint32_t>(threshold);
  return !in.failed();
}

void ForgetTemporary(Snapshot& snapshot) {
  snapshot.tracker.temporary_threshold = 0;
  for (SnapshotSite& site : snapshot.sites) site.temporary = {};
  for (SnapshotProcess& process : snapshot.processes) {
    for (ProcessRow& row : process.rows) row.temporary = {};
  }
}

std::string EncodeSizes(const Snapshot& snapshot) {
  const auto& sites = snapshot.sites;
  if (snapshot.other_sizes.empty() &&
      std::all_of(sites.begin(), sites.end(),
                  [](const SnapshotSite& site) { return site.sizes.empty(); })) {
    return {};
  }
  ByteWriter out;
  out.Varint(sites.size());
  for (const SnapshotSite& site : sites) out.Varint(site.sizes.size());
  for (const SnapshotSite& site : sites) EncodeClasses(out, site.sizes);
  for (const auto member : {&Count::allocations, &Count::bytes}) {
    for (const SnapshotSite& site : sites) {
      for (size_t i = 0; i + 1 < site.sizes.size(); ++i) out.Varint(site.sizes[i].count.*member);
    }
  }
  out.Varint(snapshot.other_sizes.size());
  EncodeClasses(out, snapshot.other_sizes);
  for (const SizeShare& share : snapshot.other_sizes) {
    out.Varint(share.count.allocations);
    out.Varint(share.count.bytes);
  }
  return out.bytes();
}

bool DecodeSizes(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  if (in.CountOfItems(1) != snapshot.sites.size()) return false;
  // A share takes at least a byte, so there are never more shares than bytes.
  std::vector<uint8_t> shares_of;
  uint64_t all_shares = 0;
  for (size_t i = 0; i < snapshot.sites.size(); ++i) {
    const uint64_t shares = in.Varint();
    if (shares > kLargestClass + 1) return false;
    shares_of.push_back(static_cast<uint8_t>(shares));
    all_shares += shares;
  }
  if (all_shares > in.remaining()) return false;
  for (size_t i = 0; i < shares_of.size(); ++i) snapshot.sites[i].sizes.resize(shares_of[i]);
  for (SnapshotSite& site : snapshot.sites) {
    if (in.failed() || !DecodeClasses(in, site.sizes)) return false;
  }
  for (const auto member : {&Count::allocations, &Count::bytes}) {
    for (SnapshotSite& site : snapshot.sites) {
      for (size_t i = 0; i + 1 < site.sizes.size(); ++i) site.sizes[i].count.*member = in.Varint();
    }
  }
  for (SnapshotSite& site : snapshot.sites) {
    if (site.sizes.empty()) continue;
    site.sizes.back().count = LeftOf(site.total, site.sizes);
    if (!NoneIsEmpty(site.sizes)) return false;
  }
  const uint64_t shares = in.Varint();
  if (shares > kLargestClass + 1) return false;
  snapshot.other_sizes.resize(shares);
  if (!DecodeClasses(in, snapshot.other_sizes)) return false;
  for (SizeShare& share : snapshot.other_sizes) {
    share.count.allocations = in.Varint();
    share.count.bytes = in.Varint();
  }
  return !in.failed() && NoneIsEmpty(snapshot.other_sizes);
}

void ForgetSizes(Snapshot& snapshot) {
  for (SnapshotSite& site : snapshot.sites) site.sizes.clear();
  snapshot.other_sizes.clear();
}

std::string EncodeRunningThreads(const Snapshot& snapshot) {
  std::vector<uint32_t> of_running;
  for (uint32_t i = 0; i < snapshot.sites.size(); ++i) {
    if (snapshot.sites[i].of_running_threads) of_running.push_back(i);
  }
  if (of_running.empty()) return {};
  ByteWriter out;
  out.Varint(of_running.size());
  uint32_t next = 0;
  for (const uint32_t site : of_running) {
    out.Varint(site - next);
    next = site + 1;
  }
  return out.bytes();
}

bool DecodeRunningThreads(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  const uint64_t count = in.CountOfItems(1);
  uint64_t next = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t skipped = in.Varint();
    if (in.failed() || skipped >= snapshot.sites.size() - next) return false;
    SnapshotSite& site = snapshot.sites[next + skipped];
    if (site.leaked == Count()) return false;
    site.of_running_threads = true;
    next += skipped + 1;
  }
  return !in.failed() && count != 0;
}

void ForgetRunningThreads(Snapshot& snapshot) {
  for (SnapshotSite& site : snapshot.sites) site.of_running_threads = false;
}

}  // namespace memprof
