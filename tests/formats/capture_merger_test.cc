#include "formats/capture/capture_merger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "core/figure.h"
#include "core/snapshot/kept_processes.h"
#include "formats/capture/capture_writer.h"
#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

using Random = std::mt19937_64;

LiveHistory AnyHistory(Random& random, size_t moments) {
  LiveHistory history;
  for (uint32_t i = 0; i < moments; ++i) {
    if (random() % 3 == 0) AddChange(history, i, {random() % 500, random() % 5});
  }
  return history;
}

// A run over a few modules, frames and threads that others have too.
CaptureContent AnyCapture(Random& random, uint64_t sample_bytes = 0) {
  CaptureContent content;
  Snapshot& s = content.snapshot;
  s.program = {random() % 2 == 0 ? "service" : "worker",
               static_cast<uint32_t>(random() % 1000 + 1),
               {"./service", std::to_string(random() % 2)},
               static_cast<int64_t>(random() % 100'000),
               random() % 5000,
               random() % 3 == 0 ? EndKind::kSignal : EndKind::kExit,
               static_cast<uint32_t>(random() % 10),
               7,
               1,
               random() % 10'000,
               random() % 4 == 0 ? 0 : random() | 1};
  s.tracker.bytes = random() % 1000;
  s.tracker.dropped_events = random() % 3;
  s.tracker.peak_bound_bytes = random() % 3;
  s.tracker.sample_bytes = sample_bytes;
  s.tracker.temporary_threshold = random() % 5 == 0 ? 2 : 1;
  s.tracker.inexact_read = random() % 5 == 0;
  // The same build under two names; and two files of one name without a build-id.
  s.modules = {{random() % 2 == 0 ? "/usr/bin/service" : "/opt/service", "0123456789abcdef"},
               {"/lib/libc.so.6", "fedcba"},
               {"/lib/plain.so", ""}};
  for (uint32_t m = 0; m < 3; ++m) {
    for (uint64_t i = 0; i < 4; ++i) s.frames.push_back({m, 0x1000 + (random() % 6) * 16});
  }
  s.frames.push_back({kNoModule, kPcTruncated});
  s.nodes = {{}};
  for (uint32_t i = 1; i < 20; ++i) {
    s.nodes.push_back(
        {static_cast<uint32_t>(random() % i), static_cast<uint32_t>(random() % s.frames.size())});
  }
  s.thread_names = {"main", "io" + std::to_string(random() % 3)};
  if (random() % 6 != 0) {
    s.timeline.interval_ms = uint64_t{4} << random() % 4;
    for (uint64_t n = random() % 60 + 1, time = 0; n > 0; --n) {
      s.timeline.points.push_back({time += random() % 60, random() % 1000, random() % 1000});
    }
  }
  if (random() % 6 != 0) {
    s.moments.interval_ms = uint64_t{16} << random() % 3;
    for (uint64_t n = random() % 60 + 1, time = 0; n > 0; --n) {
      s.moments.at.push_back({time += random() % 100 + 1, random() % 4 == 0});
    }
  }
  for (uint64_t n = random() % 3; n > 0; --n) {
    s.named.taken.push_back({MomentName("warm", s.named.taken), 10 * (3 - n), false});
  }
  for (int i = 0; i < 15; ++i) {
    SnapshotSite site;
    site.node = static_cast<uint32_t>(random() % 20);
    site.thread_name = static_cast<uint32_t>(random() % 2);
    const uint64_t blocks = random() % 9 + 1;
    site.total = {blocks * 100, blocks};
    site.peak = {blocks * 50, blocks};
    site.leaked = {random() % 2 * 10, random() % 2};
    site.of_running_threads = site.leaked != Count() && random() % 2 == 0;
    site.kind = random() % 2 == 0 ? AllocatorKind::kMalloc : AllocatorKind::kNew;
    site.temporary = {random() % 50, 1};
    if (sample_bytes != 0) site.size_class = static_cast<uint32_t>(random() % 3);
    if (random() % 4 != 0) AddSizes(site.sizes, 7, site.total);
    site.history = AnyHistory(random, s.moments.at.size());
    site.named = AnyHistory(random, s.named.taken.size());
    s.sites.push_back(site);
  }
  s = Canonical(s);
  s.tracker.counter_peak_bytes = SumPeak(s).bytes;
  if (random() % 2 == 0) return content;
  for (size_t i = 0; i < s.modules.size(); ++i) {
    content.symbols.notes.push_back(random() % 3 == 0 ? "no debug info" : "");
  }
  for (const SnapshotFrame& frame : s.frames) {
    SourceChain chain;
    if (frame.module != kNoModule && random() % 4 != 0) {
      if (random() % 2 == 0) chain.push_back({"inlined", "a.cc", 7, true});
      chain.push_back(
          {"f" + std::to_string(frame.offset), random() % 2 == 0 ? "a.cc" : "", 1, false});
    }
    content.symbols.chains.push_back(chain);
  }
  return content;
}

CaptureContent MergeOf(const std::vector<CaptureContent>& captures) {
  CaptureMerger merger;
  for (const CaptureContent& capture : captures) {
    const auto added = merger.Add(capture);
    EXPECT_TRUE(added.has_value()) << added.error().message;
  }
  MergedCapture merge = merger.Take();
  return {std::move(merge.snapshot).Take(), std::move(merge.symbols), {}};
}

std::string BytesOf(const CaptureContent& content) {
  const auto bytes = EncodeMerge({Canonical(content.snapshot), content.symbols});
  EXPECT_TRUE(bytes.has_value());
  return *bytes;
}

// Through its bytes, as the command does it.
CaptureContent Stored(const CaptureContent& content) {
  auto read = DecodeCapture(BytesOf(content));
  EXPECT_TRUE(read.has_value());
  EXPECT_TRUE(read->damage.empty());
  return *read;
}

// With a limit that few processes reach: each new process may change the set of those kept apart.
Snapshot MergeOf(const std::vector<Snapshot>& snapshots, size_t most_rows) {
  SnapshotMerger merger(kMaxLiveChanges, most_rows);
  for (const Snapshot& snapshot : snapshots) {
    EXPECT_TRUE(merger.Add(snapshot, 1).has_value());
  }
  return merger.Take();
}

Snapshot AnySnapshot(Random& random) {
  Snapshot snapshot = AnyCapture(random).snapshot;
  snapshot.program.run_id = random() | 1;
  // Many peaks are equal, and some processes have few rows or none.
  for (SnapshotSite& site : snapshot.sites) site.peak = {random() % 3 * 10, 1};
  snapshot.sites.resize(random() % (snapshot.sites.size() + 1));
  return Canonical(snapshot);
}

// A source's figures at each site of the merge, with the site identified by everything except its
// index.
using SiteText = std::string;
std::map<SiteText, ProcessRow> RowsOf(const Snapshot& s, const SnapshotProcess& process) {
  std::map<SiteText, ProcessRow> rows;
  for (ProcessRow row : process.rows) {
    const SnapshotSite& site = s.sites[row.site];
    SiteText text = s.thread_names[site.thread_name] + NameOf(site.kind);
    for (uint32_t node = site.node; node != 0; node = s.nodes[node].parent) {
      const SnapshotFrame& frame = s.frames[s.nodes[node].frame];
      text += " " + (frame.module == kNoModule ? "-" : MergeKey(s.modules[frame.module])) + "+" +
              std::to_string(frame.offset);
    }
    row.site = 0;
    EXPECT_TRUE(rows.emplace(text, row).second) << text;
  }
  return rows;
}

TEST(CaptureMerger, HasLeaksOfRunningThreadsOnlyWhereNoSourceHasOthers) {
  enum { kNone, kRunning, kOther };
  const auto merged = [](int first, int second) {
    std::vector<CaptureContent> captures;
    for (const int leak : {first, second}) {
      Snapshot s = SampleSnapshot();
      s.program.run_id = captures.size() + 1;
      s.sites[0].leaked = leak == kNone ? Count() : Count{100, 1};
      s.sites[0].of_running_threads = leak == kRunning;
      captures.push_back({Canonical(s), {}, {}});
    }
    return SumOfRunningThreads(MergeOf(captures).snapshot);
  };
  EXPECT_EQ(merged(kRunning, kRunning), (Count{200, 2}));
  EXPECT_EQ(merged(kRunning, kNone), (Count{100, 1}));
  EXPECT_EQ(merged(kNone, kRunning), (Count{100, 1}));
  EXPECT_EQ(merged(kRunning, kOther), Count());
  EXPECT_EQ(merged(kOther, kRunning), Count());
  EXPECT_EQ(merged(kNone, kNone), Count());
}

TEST(CaptureMerger, IsAssociativeToTheByte) {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    const uint64_t sample_bytes = i % 4 == 0 ? 512 : 0;
    const CaptureContent a = AnyCapture(random, sample_bytes);
    const CaptureContent b = AnyCapture(random, sample_bytes);
    const CaptureContent c = AnyCapture(random, sample_bytes);
    const std::string all = BytesOf(MergeOf({a, b, c}));
    EXPECT_EQ(BytesOf(MergeOf({Stored(MergeOf({a, b})), c})), all) << i;
    EXPECT_EQ(BytesOf(MergeOf({a, Stored(MergeOf({b, c}))})), all) << i;
  }
}

TEST(CaptureMerger, IsCommutativeToTheByte) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    std::vector<CaptureContent> captures;
    for (uint64_t n = random() % 5 + 2; n > 0; --n) captures.push_back(AnyCapture(random));
    const std::string all = BytesOf(MergeOf(captures));
    std::shuffle(captures.begin(), captures.end(), random);
    EXPECT_EQ(BytesOf(MergeOf(captures)), all) << i;
  }
}

TEST(CaptureMerger, OfOneIsItself) {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const CaptureContent one = AnyCapture(random);
    EXPECT_EQ(BytesOf(MergeOf({one})), BytesOf(one));
    const CaptureContent two = MergeOf({one, AnyCapture(random)});
    EXPECT_EQ(BytesOf(MergeOf({two})), BytesOf(two));
  }
}

TEST(CaptureMerger, OfOneKeepsTheNamesOfModulesThatShareABuildId) {
  CaptureContent one{SampleSnapshot(), {}, {}};
  Snapshot& s = one.snapshot;
  s.program.run_id = 1;
  s.modules[1].build_id = s.modules[0].build_id;
  s.frames[2] = {1, s.frames[0].offset};
  s = Canonical(s);
  one.symbols.notes = {"", "no debug info"};
  for (size_t i = 0; i < s.frames.size(); ++i) {
    one.symbols.chains.push_back({});
    if (s.frames[i].module == kNoModule) continue;
    one.symbols.chains.back().push_back({"f" + std::to_string(i), "", 0, false});
  }
  EXPECT_EQ(BytesOf(MergeOf({one})), BytesOf(one));
}

TEST(CaptureMerger, DropsTheMomentsWhereASingleOneHasTooManyChanges) {
  SnapshotMerger merger(1);
  for (uint64_t run = 1; run <= 2; ++run) {
    Snapshot s = SampleSnapshot();
    s.program.run_id = run;
    s.moments = {16, {{16, false}, {32, false}, {48, false}}};
    for (SnapshotSite& site : s.sites) site.history = {{0, {10, 1}}, {1, {20, 2}}, {2, {30, 3}}};
    ASSERT_TRUE(merger.Add(std::move(s), 1).has_value());
  }
  const Snapshot merged = merger.Take();
  EXPECT_TRUE(merged.moments.at.empty());
  ASSERT_EQ(merged.sources.size(), 2u);
  for (const SnapshotSource& source : merged.sources) EXPECT_FALSE(source.has_moments);
  for (const SnapshotSite& site : merged.sites) EXPECT_TRUE(site.history.empty());
  EXPECT_EQ(SumPeak(merged).bytes, 2 * SumPeak(SampleSnapshot()).bytes);
}

TEST(CaptureMerger, HasTheSumsOfAllTotals) {
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    std::vector<CaptureContent> captures;
    Count peak, leaked, total, last_moment;
    uint64_t named = 0;
    for (uint64_t n = random() % 5 + 2; n > 0; --n) {
      captures.push_back(AnyCapture(random));
      const Snapshot& s = captures.back().snapshot;
      peak += SumPeak(s);
      leaked += SumLeaked(s);
      total += SumTotal(s);
      named += s.named.taken.size();
      if (s.moments.at.empty()) continue;
      for (const SnapshotSite& site : s.sites) last_moment += LiveAt(site.history, 1000);
    }
    const Snapshot merged = MergeOf(captures).snapshot;
    EXPECT_EQ(SumPeak(merged), peak);
    EXPECT_EQ(SumLeaked(merged), leaked);
    EXPECT_EQ(SumTotal(merged), total);
    EXPECT_EQ(merged.tracker.counter_peak_bytes, peak.bytes);
    EXPECT_EQ(merged.sources.size(), captures.size());
    EXPECT_EQ(merged.named.left_out, named);
    Count live;
    for (const SnapshotSite& site : merged.sites) live += LiveAt(site.history, 1000);
    EXPECT_EQ(live, last_moment);
  }
}

TEST(CaptureMerger, TakesModulesOfOneBuildIdForOne) {
  CaptureContent a{SampleSnapshot(), {}, {}};
  CaptureContent b = a;
  a.snapshot.program.run_id = 1;
  b.snapshot.program.run_id = 2;
  b.snapshot.modules[0].path = "/opt/service";
  const Snapshot merged = MergeOf({a, b}).snapshot;
  ASSERT_EQ(merged.modules.size(), 2u);
  EXPECT_EQ(merged.modules[1].path, "/opt/service");  // before /usr
  EXPECT_EQ(merged.sites.size(), a.snapshot.sites.size());
}

TEST(CaptureMerger, KeepsWhatEachProcessHas) {
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    std::vector<Snapshot> captures;
    for (uint64_t n = random() % 6 + 2; n > 0; --n) captures.push_back(AnySnapshot(random));
    for (Snapshot& capture : captures) capture.tracker.temporary_threshold = 1;
    const Snapshot merged = MergeOf(captures, kMostProcessRows);
    ASSERT_EQ(merged.processes.size(), captures.size());
    EXPECT_TRUE(FitSites(merged.processes, merged.sites));
    for (size_t p = 0; p < merged.processes.size(); ++p) {
      const auto capture = std::find_if(captures.begin(), captures.end(), [&](const Snapshot& c) {
        return c.program.run_id == merged.sources[p].program.run_id;
      });
      ASSERT_NE(capture, captures.end());
      ASSERT_EQ(merged.processes[p].kind, SnapshotProcess::Kind::kApart);
      SnapshotProcess alone = ProcessOf(capture->sites);
      std::vector<uint32_t> same(capture->sites.size());
      std::iota(same.begin(), same.end(), 0u);
      MoveRows(alone.rows, same);
      EXPECT_EQ(RowsOf(merged, merged.processes[p]), RowsOf(*capture, alone));
    }
    // All have their rows, so nothing is left of the sites.
    std::vector<ProcessRow> sums(merged.sites.size());
    for (const SnapshotProcess& process : merged.processes) {
      for (const ProcessRow& row : process.rows) AddFigures(sums[row.site], row);
    }
    for (size_t s = 0; s < sums.size(); ++s) {
      EXPECT_EQ(sums[s].peak, merged.sites[s].peak);
      EXPECT_EQ(sums[s].leaked, merged.sites[s].leaked);
      EXPECT_EQ(sums[s].total, merged.sites[s].total);
      EXPECT_EQ(sums[s].temporary, merged.sites[s].temporary);
    }
  }
}

TEST(CaptureMerger, KeepsTheSameProcessesInAnyGroups) {
  Random random(8);
  size_t cut = 0;
  for (int i = 0; i < 150; ++i) {
    const size_t most_rows = 60 + random() % 100;
    std::vector<Snapshot> captures;
    for (uint64_t n = random() % 20 + 6; n > 0; --n) captures.push_back(AnySnapshot(random));
    const Snapshot all = MergeOf(captures, most_rows);
    ASSERT_EQ(all.processes.size(), captures.size());
    // The heaviest, as many as there may be.
    size_t apart = 0, rows = 0;
    uint64_t lightest = ~uint64_t{0}, heaviest_summed = 0;
    for (size_t p = 0; p < all.processes.size(); ++p) {
      const uint64_t peak = all.sources[p].peak.bytes;
      if (all.processes[p].kind == SnapshotProcess::Kind::kApart) {
        ++apart;
        rows += all.processes[p].rows.size();
        lightest = std::min(lightest, peak);
      } else {
        heaviest_summed = std::max(heaviest_summed, peak);
      }
    }
    EXPECT_GE(apart, std::min(captures.size(), kMostProcesses));
    EXPECT_TRUE(apart <= kMostProcesses || rows <= most_rows);
    EXPECT_GE(lightest, heaviest_summed);
    cut += apart < captures.size();

    std::vector<Snapshot> merges = captures;
    while (merges.size() > 1) {
      std::shuffle(merges.begin(), merges.end(), random);
      const size_t some = random() % (merges.size() - 1) + 2;
      const auto end = merges.begin() + static_cast<std::ptrdiff_t>(some);
      Snapshot group = MergeOf(std::vector<Snapshot>(merges.begin(), end), most_rows);
      merges.erase(merges.begin(), end);
      const auto stored = DecodeCapture(EncodeCapture(Canonical(group)));
      ASSERT_TRUE(stored.has_value());
      ASSERT_TRUE(stored->damage.empty());
      EXPECT_EQ(stored->snapshot, group);
      merges.push_back(stored->snapshot);
    }
    EXPECT_EQ(EncodeCapture(Canonical(merges[0])), EncodeCapture(Canonical(all))) << i;
  }
  EXPECT_GT(cut, 30u);
}

TEST(CaptureMerger, ReckonsWithoutProcessesThatAnOlderMergeDidNotKeep) {
  Random random(9);
  for (int i = 0; i < 30; ++i) {
    std::vector<Snapshot> captures;
    for (int n = 0; n < 12; ++n) captures.push_back(AnySnapshot(random));
    Snapshot older = MergeOf({captures[0], captures[1], captures[2]}, 60);
    older.processes.clear();
    std::vector<Snapshot> rest(captures.begin() + 3, captures.end());
    std::vector<Snapshot> direct = rest;
    direct.push_back(older);
    const Snapshot all = MergeOf(direct, 60);
    EXPECT_EQ(std::count_if(all.processes.begin(), all.processes.end(),
                            [](const SnapshotProcess& p) {
                              return p.kind == SnapshotProcess::Kind::kUnknown;
                            }),
              3);
    const Snapshot some = MergeOf({older, rest[0], rest[1]}, 60);
    std::vector<Snapshot> grouped(rest.begin() + 2, rest.end());
    grouped.push_back(some);
    EXPECT_EQ(EncodeCapture(Canonical(MergeOf(grouped, 60))), EncodeCapture(Canonical(all)));
  }
  // For merges of such merges alone nothing is known, and nothing is stored.
  Snapshot a = MergeOf({AnySnapshot(random), AnySnapshot(random)}, 60);
  Snapshot b = MergeOf({AnySnapshot(random), AnySnapshot(random)}, 60);
  a.processes.clear();
  b.processes.clear();
  EXPECT_TRUE(MergeOf({a, b}, 60).processes.empty());
}

TEST(CaptureMerger, OfManyProcessesOfTheSamePlacesIsNotThatManyTimesAsLarge) {
  // Like forked workers: the same stacks, and nearly the same figures.
  Random random(10);
  Snapshot worker = LargeSnapshot(60);
  SnapshotMerger merger;
  for (uint64_t n = 1; n <= 200; ++n) {
    Snapshot one = worker;
    one.program.run_id = n;
    for (SnapshotSite& site : one.sites) site.leaked.bytes += random() % 3;
    ASSERT_TRUE(merger.Add(one, 1).has_value());
  }
  const Snapshot merged = merger.Take();
  EXPECT_TRUE(std::all_of(
      merged.processes.begin(), merged.processes.end(),
      [](const SnapshotProcess& p) { return p.kind == SnapshotProcess::Kind::kApart; }));
  EXPECT_LT(EncodeCapture(Canonical(merged)).size(), 20 * EncodeCapture(Canonical(worker)).size());

  // And of many places a number that doesn't grow any more.
  const auto size_of = [](uint64_t processes) {
    SnapshotMerger many;
    for (uint64_t n = 1; n <= processes; ++n) {
      Snapshot one = LargeSnapshot(3000);
      one.program.run_id = n;
      EXPECT_TRUE(many.Add(std::move(one), 1).has_value());
    }
    Snapshot sum = many.Take();
    size_t rows = 0;
    for (const SnapshotProcess& process : sum.processes) rows += process.rows.size();
    return rows;
  };
  EXPECT_EQ(size_of(16), 16'000u - 16u);
  EXPECT_EQ(size_of(40), size_of(16));
}

TEST(CaptureMerger, RefusesWhatWouldBeCountedTwice) {
  Random random(5);
  const CaptureContent a = AnyCapture(random);
  const CaptureContent b = AnyCapture(random);
  CaptureMerger merger;
  ASSERT_TRUE(merger.Add(a).has_value());
  const auto again = merger.Add(a);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().kind, ErrorKind::kUsage);
  EXPECT_NE(again.error().message.find("counted twice"), std::string::npos);
  EXPECT_FALSE(merger.Add(Stored(MergeOf({b, a}))).has_value());
  // Nothing of what was refused is in it.
  ASSERT_TRUE(merger.Add(b).has_value());
  EXPECT_EQ(*EncodeMerge(merger.Take()), BytesOf(MergeOf({a, b})));
}

TEST(CaptureMerger, RefusesEstimatesBesideExactFigures) {
  Random random(6);
  CaptureMerger merger;
  ASSERT_TRUE(merger.Add(AnyCapture(random)).has_value());
  EXPECT_FALSE(merger.Add(AnyCapture(random, 512)).has_value());
  CaptureMerger sampled;
  ASSERT_TRUE(sampled.Add(AnyCapture(random, 512)).has_value());
  EXPECT_FALSE(sampled.Add(AnyCapture(random, 1024)).has_value());
  EXPECT_TRUE(sampled.Add(AnyCapture(random, 512)).has_value());
}

TEST(CaptureMerger, KnowsTemporariesOnlyOfOneThreshold) {
  CaptureContent a{DetailedSnapshot(), {}, {}};
  CaptureContent b = a;
  a.snapshot.program.run_id = 1;
  b.snapshot.program.run_id = 2;
  EXPECT_EQ(SumTemporary(MergeOf({a, b}).snapshot), (Count{650, 6}));
  b.snapshot.tracker.temporary_threshold = 1;
  const Snapshot merged = MergeOf({a, b}).snapshot;
  EXPECT_EQ(SumTemporary(merged), Count());
  EXPECT_EQ(merged.tracker.temporary_threshold, 0u);
}

}  // namespace
}  // namespace memprof
