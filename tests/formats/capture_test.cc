#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "core/snapshot/kept_processes.h"
#include "core/snapshot/snapshot_merger.h"
#include "formats/atomic_file.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_checksum.h"
#include "formats/capture/capture_dump.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_sections.h"
#include "formats/capture/capture_writer.h"
#include "formats/capture/program_sections.h"
#include "formats/capture/python_section.h"
#include "formats/capture/section_writer.h"
#include "formats/capture/site_sections.h"
#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

namespace cf = capture_format;

// The same profile, told in another order and with parts twice.
Snapshot Shuffled(const Snapshot& s) {
  Snapshot t = s;
  std::reverse(t.modules.begin(), t.modules.end());
  const auto modules = static_cast<uint32_t>(t.modules.size());
  for (SnapshotFrame& frame : t.frames) {
    if (frame.module != kNoModule) frame.module = modules - 1 - frame.module;
  }
  const auto frames = static_cast<uint32_t>(t.frames.size());
  t.frames.insert(t.frames.end(), s.frames.begin(), s.frames.end());
  for (size_t i = 0; i < frames; ++i) t.frames[frames + i] = t.frames[i];
  for (size_t i = 1; i < t.nodes.size(); i += 2) t.nodes[i].frame += frames;
  const auto nodes = static_cast<uint32_t>(t.nodes.size());
  for (uint32_t i = 1; i < nodes; ++i) {  // a second copy of the tree
    const uint32_t parent = t.nodes[i].parent;
    t.nodes.push_back({parent == 0 ? 0 : parent + nodes - 1, t.nodes[i].frame});
  }
  std::reverse(t.sites.begin(), t.sites.end());
  std::reverse(t.thread_names.begin(), t.thread_names.end());
  const auto names = static_cast<uint32_t>(t.thread_names.size());
  for (SnapshotSite& site : t.sites) {
    site.thread_name = names - 1 - site.thread_name;
    site.node += nodes - 1;
  }
  SnapshotSite split = t.sites[0];  // one site as two halves
  split.node -= nodes - 1;
  split.peak = split.leaked = {};
  split.total = {t.sites[0].total.bytes, t.sites[0].total.allocations};
  t.sites[0].total = {};
  t.sites.push_back(split);
  t.sites.push_back({0, 0, {}, {}, {}});  // nothing ever happened there
  return t;
}

uint64_t SectionOffset(const std::string& bytes, uint32_t wanted) {
  uint64_t at = cf::kFileHeaderBytes;
  for (;;) {
    uint32_t type;
    uint64_t stored;
    std::memcpy(&type, bytes.data() + at, sizeof type);
    std::memcpy(&stored, bytes.data() + at + 8, sizeof stored);
    if (type == wanted) return at;
    at += cf::kSectionHeaderBytes + stored;
  }
}

std::string Section(uint32_t type, uint32_t flags, const std::string& raw) {
  ByteWriter out;
  out.Fixed(type);
  out.Fixed(flags);
  out.Fixed(uint64_t{raw.size()});
  out.Fixed(uint64_t{raw.size()});
  out.Fixed(SectionChecksum(type, flags, raw.size(), raw));
  out.Raw(raw);
  return out.bytes();
}

TEST(Capture, GivesBackWhatWasWritten) {
  for (const Snapshot& s : {SampleSnapshot(), EstimatedSnapshot(), LargeSnapshot(5000),
                            Snapshot{{}, {}, {}, {}, {{}}, {}, {}, {}, {}}}) {
    const auto read = DecodeCapture(EncodeCapture(Canonical(s)));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(read->damage.empty());
    EXPECT_EQ(read->snapshot, Canonical(s));
    EXPECT_EQ(SumTotal(read->snapshot), SumTotal(s));
    EXPECT_EQ(SumPeak(read->snapshot), SumPeak(s));
  }
}

// A stack of a million frames takes some hundred bytes, and a report's work is the sum of all.
TEST(Capture, HasNoStackThatIsDeeperThanAnyTrackerKeeps) {
  Snapshot deep = SampleSnapshot();
  uint32_t node = deep.sites[0].node;
  for (int depth = 0; depth < 1000; ++depth) {
    deep.nodes.push_back({node, 0});
    node = static_cast<uint32_t>(deep.nodes.size() - 1);
  }
  deep.sites[0].node = node;
  EXPECT_TRUE(DecodeCapture(EncodeCapture(Canonical(deep))).has_value());
  for (int depth = 0; depth < 100; ++depth) {
    deep.nodes.push_back({node, 0});
    node = static_cast<uint32_t>(deep.nodes.size() - 1);
  }
  deep.sites[0].node = node;
  EXPECT_FALSE(DecodeCapture(EncodeCapture(Canonical(deep))).has_value());
}

TEST(Capture, HasTheSameBytesForTheSameProfile) {
  for (const Snapshot& s : {SampleSnapshot(), EstimatedSnapshot(), LargeSnapshot(500)}) {
    EXPECT_EQ(EncodeCapture(Canonical(s)), EncodeCapture(Canonical(Shuffled(s))));
    EXPECT_EQ(Canonical(Canonical(s)), Canonical(s));
  }
}

TEST(Capture, KeepsClassesOfSizesApart) {
  const auto read = DecodeCapture(EncodeCapture(Canonical(EstimatedSnapshot())));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->snapshot.sites.size(), 3u);
  EXPECT_EQ(read->snapshot.sites[0].size_class, 8u);
  EXPECT_EQ(read->snapshot.sites[1].size_class, 4u);
  EXPECT_EQ(read->snapshot.sites[1].node, read->snapshot.sites[2].node);
  EXPECT_EQ(read->snapshot.sites[2].size_class, 7u);
  EXPECT_EQ(read->snapshot.tracker.sample_bytes, 512u);
}

TEST(Capture, GivesBackKindsTemporariesAndSizes) {
  const Snapshot snapshot = Canonical(DetailedSnapshot());
  const auto content = DecodeCapture(EncodeCapture(Canonical(snapshot)));
  ASSERT_TRUE(content.has_value()) << content.error().message;
  EXPECT_TRUE(content->damage.empty());
  EXPECT_EQ(content->snapshot, snapshot);
  EXPECT_EQ(SumSizes(content->snapshot),
            (SizeHistogram{{0, {0, 1}}, {7, {300, 3}}, {8, {1250, 9}}}));
}

TEST(Capture, SaysWhatIsNotKnownOfACaptureFromBefore) {
  const auto content = DecodeCapture(EncodeCapture(Canonical(SampleSnapshot())));
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ(content->snapshot.tracker.temporary_threshold, 0u);
  EXPECT_TRUE(SumSizes(content->snapshot).empty());
}

// Damages each of these sections alone: the rest stays, and the section's facts are unknown.
TEST(Capture, ReadsTheRestWhenWhatItHasOfSitesIsDamaged) {
  const std::string whole = EncodeCapture(Canonical(DetailedSnapshot()));
  for (const char* section : {"kinds", "temporary", "sizes", "running threads"}) {
    std::string bytes = whole;
    for (const CaptureSection& s : SplitSections(whole).sections) {
      if (SectionName(s.type) == section) {
        bytes[s.file_offset + capture_format::kSectionHeaderBytes] ^= 1;
      }
    }
    const auto content = DecodeCapture(bytes);
    ASSERT_TRUE(content.has_value()) << section;
    ASSERT_EQ(content->damage.size(), 1u) << section;
    EXPECT_EQ(content->damage[0].section, section);
    EXPECT_EQ(SumTotal(content->snapshot), SumTotal(DetailedSnapshot()));
    EXPECT_EQ(content->snapshot.tracker.temporary_threshold != 0,
              std::string(section) != "temporary");
    EXPECT_EQ(SumSizes(content->snapshot).empty(), std::string(section) == "sizes");
    EXPECT_EQ(SumOfRunningThreads(content->snapshot) == Count(),
              std::string(section) == "running threads");
  }
}

TEST(Capture, GivesBackWhatThreadsHoldThatStillRan) {
  Snapshot snapshot = Canonical(LargeSnapshot(500));
  for (size_t i = 0; i < snapshot.sites.size(); ++i) {
    SnapshotSite& site = snapshot.sites[i];
    site.of_running_threads = i % 3 == 0 && site.leaked != Count();
  }
  ASSERT_NE(SumOfRunningThreads(snapshot), Count());
  const auto content = DecodeCapture(EncodeCapture(Canonical(snapshot)));
  ASSERT_TRUE(content.has_value()) << content.error().message;
  EXPECT_TRUE(content->damage.empty());
  EXPECT_EQ(content->snapshot, snapshot);
}

// Some bytes must not cost minutes or gibibytes.
TEST(Capture, OfASmallFileTakesLittle) {
  std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  bytes.resize(capture_format::kFileHeaderBytes);
  ByteWriter out;
  out.Raw(bytes);
  const std::string zeros(40 << 20, '\0');
  for (uint32_t type = 1000; type < 1004; ++type) AppendSection(out, type, zeros);
  const CaptureSections split = SplitSections(out.bytes());
  ASSERT_EQ(split.sections.size(), 4u);
  EXPECT_TRUE(split.sections[0].damage.empty());
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(split.sections[i].damage, "its content is larger than a capture may have");
    EXPECT_TRUE(split.sections[i].raw.empty());
  }
}

TEST(Capture, BelievesWhatIsUnseenInItsOrderOnly) {
  std::vector<Unseen> many;
  for (int i = 0; i < 200'000; ++i) {
    many.push_back({Unseen::Kind::kProcesses, std::to_string(1'000'000 + i), "", 1});
  }
  std::vector<Unseen> read;
  EXPECT_TRUE(DecodeUnseen(EncodeUnseen(many), read));
  EXPECT_EQ(read.size(), many.size());
  std::reverse(many.begin(), many.end());
  EXPECT_FALSE(DecodeUnseen(EncodeUnseen(many), read));
}

TEST(Capture, HasNoSectionOfRunningThreadsWithoutThem) {
  const std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  for (const CaptureSection& section : SplitSections(bytes).sections) {
    EXPECT_NE(SectionName(section.type), "running threads");
  }
}

TEST(Capture, BelievesNoRunningThreadsWithoutALeakOrASite) {
  for (const std::string_view raw :
       {std::string_view("\x01\x00", 2), std::string_view("\x01\x02", 2),
        std::string_view("\x02\x00\x00", 3), std::string_view("\x01", 1),
        std::string_view("\x00", 1),
        std::string_view("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)}) {
    Snapshot snapshot = Canonical(SampleSnapshot());  // only its second site leaked
    EXPECT_FALSE(DecodeRunningThreads(raw, snapshot));
  }
  Snapshot snapshot = Canonical(SampleSnapshot());
  ASSERT_TRUE(DecodeRunningThreads(std::string_view("\x01\x01", 2), snapshot));
  EXPECT_EQ(SumOfRunningThreads(snapshot), (Count{100, 1}));
}

// Two runs of the sample: one had more at its end, and only the sum of one is known.
Snapshot MergedSnapshot() {
  SnapshotMerger merger;
  for (uint64_t run = 1; run <= 2; ++run) {
    Snapshot one = DetailedSnapshot();
    one.program.run_id = run;
    if (run == 2) one.sites[0].leaked = {250, 2};
    EXPECT_TRUE(merger.Add(std::move(one), 1).has_value());
  }
  return merger.Take();
}

TEST(Capture, GivesBackWhatEachProcessHas) {
  Snapshot merged = MergedSnapshot();
  ASSERT_EQ(merged.processes.size(), 2u);
  for (const auto kind : {SnapshotProcess::Kind::kApart, SnapshotProcess::Kind::kSummed,
                          SnapshotProcess::Kind::kUnknown}) {
    merged.processes[0].kind = kind;
    if (kind != SnapshotProcess::Kind::kApart) merged.processes[0].rows.clear();
    const auto content = DecodeCapture(EncodeCapture(Canonical(merged)));
    ASSERT_TRUE(content.has_value());
    EXPECT_TRUE(content->damage.empty());
    EXPECT_EQ(content->snapshot, merged);
  }
  // As a memprof before wrote it.
  merged.processes.clear();
  for (const CaptureSection& section : SplitSections(EncodeCapture(Canonical(merged))).sections) {
    EXPECT_NE(section.type, cf::kProcesses);
  }
}

TEST(Capture, SaysHowManyFramesHaveNoNameWhereThereAreAny) {
  Snapshot snapshot = SampleSnapshot();
  const std::string without = EncodeCapture(Canonical(snapshot));
  snapshot.tracker.unnamed_frames = 5;
  const std::string with = EncodeCapture(Canonical(snapshot));
  ASSERT_NE(with, without);
  EXPECT_EQ(DecodeCapture(with)->snapshot.tracker, snapshot.tracker);
  // As a memprof before wrote it.
  EXPECT_EQ(DecodeCapture(without)->snapshot.tracker.unnamed_frames, 0u);
}

TEST(Capture, SaysHowManyStacksLackPythonFunctionsWhereThereAreAny) {
  Snapshot snapshot = SampleSnapshot();
  const std::string without = EncodeCapture(Canonical(snapshot));
  snapshot.tracker.unread_python = 7;
  const std::string with = EncodeCapture(Canonical(snapshot));
  ASSERT_NE(with, without);
  EXPECT_EQ(DecodeCapture(with)->snapshot.tracker, snapshot.tracker);
  EXPECT_EQ(DecodeCapture(without)->snapshot.tracker.unread_python, 0u);
}

TEST(Capture, ThatWasDamagedWhereItSaysThatItWasAttachedSaysNothingOfIt) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.tracker.attached = 1;
  snapshot.tracker.before_attach_frees = 2;
  snapshot.tracker.before_attach_bytes = 30;
  const std::string bytes = EncodeCapture(Canonical(snapshot));
  ByteWriter raw;
  for (const uint64_t number : {0u, 2u, 30u}) raw.Varint(number);
  const auto content = DecodeCapture(bytes.substr(0, SectionOffset(bytes, cf::kAttached)) +
                                     Section(cf::kAttached, 0, raw.bytes()) +
                                     bytes.substr(SectionOffset(bytes, cf::kEnd)));
  ASSERT_TRUE(content.has_value());
  EXPECT_FALSE(content->damage.empty());
  EXPECT_EQ(content->snapshot.tracker.attached, 0u);
  EXPECT_EQ(content->snapshot.tracker.before_attach_frees, 0u);
  EXPECT_EQ(content->snapshot.tracker.before_attach_bytes, 0u);
}

TEST(Capture, KeepsWhatIsInNoFigure) {
  Snapshot snapshot = SampleSnapshot();
  for (const CaptureSection& section : SplitSections(EncodeCapture(Canonical(snapshot))).sections) {
    EXPECT_NE(section.type, cf::kUnseen);
  }
  AddUnseen(snapshot.unseen, {{Unseen::Kind::kAllocator, "jemalloc", "demo", 1},
                              {Unseen::Kind::kProcesses, "busybox", "", 300}});
  const auto content = DecodeCapture(EncodeCapture(Canonical(snapshot)));
  ASSERT_TRUE(content.has_value());
  EXPECT_TRUE(content->damage.empty());
  EXPECT_EQ(content->snapshot.unseen, snapshot.unseen);
}

TEST(Capture, SaysSoIfWhatIsInNoFigureIsDamaged) {
  Snapshot snapshot = SampleSnapshot();
  AddUnseen(snapshot.unseen, {{Unseen::Kind::kChildren, "", "", 2}});
  const std::string bytes = EncodeCapture(Canonical(snapshot));
  for (const unsigned kind : {0u, 5u}) {
    ByteWriter raw;
    for (const unsigned number : {1u, kind, 0u, 0u, 1u}) raw.Varint(number);
    const auto content = DecodeCapture(bytes.substr(0, SectionOffset(bytes, cf::kUnseen)) +
                                       Section(cf::kUnseen, 0, raw.bytes()) +
                                       bytes.substr(SectionOffset(bytes, cf::kEnd)));
    ASSERT_TRUE(content.has_value());
    EXPECT_FALSE(content->damage.empty());
    EXPECT_TRUE(content->snapshot.unseen.empty());
  }
}

TEST(Capture, TakesNoRowsOfProcessesThatCanNotBe) {
  const Snapshot merged = MergedSnapshot();
  const std::string bytes = EncodeCapture(Canonical(merged));
  const uint64_t at = SectionOffset(bytes, cf::kProcesses);
  const uint64_t end = SectionOffset(bytes, cf::kRunningThreads);  // the next one
  const auto with = [&](const std::vector<uint64_t>& numbers, size_t figures) {
    ByteWriter raw;
    for (const uint64_t number : numbers) raw.Varint(number);
    for (size_t i = 0; i < figures; ++i) raw.Varint(0);
    return DecodeCapture(bytes.substr(0, at) + Section(cf::kProcesses, 0, raw.bytes()) +
                         bytes.substr(end));
  };
  ASSERT_EQ(merged.sites.size(), 2u);
  const auto fine = with({0, 2, 3, 4, 1, 0, 0}, 18);  // 1 and 2 rows
  ASSERT_TRUE(fine.has_value());
  EXPECT_TRUE(fine->damage.empty());
  ASSERT_EQ(fine->snapshot.processes.size(), 2u);
  EXPECT_EQ(fine->snapshot.processes[0].rows[0].site, 1u);
  const struct {
    std::vector<uint64_t> numbers;
    size_t figures;
    const char* why;
  } broken[] = {
      {{2, 2, 1, 1}, 0, "no such flag"},
      {{0, 1, 1}, 0, "fewer processes than sources"},
      {{0, 3, 1, 1, 1}, 0, "more"},
      {{0, uint64_t{1} << 60}, 0, "more than there are bytes"},
      {{0, 2, 3, 1, 2}, 6, "a site that there isn't"},
      {{0, 2, 4, 1, 0, 1}, 12, "a second one"},
      {{0, 2, 5, 1, 0, 0, 0}, 18, "more rows than sites"},
      {{0, 2, uint64_t{1} << 60, uint64_t{1} << 60}, 0, "far more"},
      {{0, 2, 4, 4, 0, 0, 0, 0}, 23, "a figure too few"},
      {{0, 2, 3, 1, 0, 9999}, 5, "more than the site has"},
  };
  for (const auto& [numbers, figures, why] : broken) {
    const auto content = with(numbers, figures);
    ASSERT_TRUE(content.has_value()) << why;
    EXPECT_EQ(content->damage.size(), 1u) << why;
    EXPECT_TRUE(content->snapshot.processes.empty()) << why;
    EXPECT_EQ(content->snapshot.sources, merged.sources);
    EXPECT_EQ(SumTotal(content->snapshot), SumTotal(merged)) << why;
  }
}

TEST(Capture, TakesNoMoreProcessesApartThanAWriterDoes) {
  constexpr uint64_t kProcesses = kMostProcesses + 1;
  SnapshotMerger merger;
  for (uint64_t run = 1; run <= kProcesses; ++run) {
    Snapshot one = LargeSnapshot(6000);  // nearly 2,000 sites
    one.program.run_id = run;
    ASSERT_TRUE(merger.Add(std::move(one), 1).has_value());
  }
  Snapshot merged = merger.Take();
  const auto written = DecodeCapture(EncodeCapture(Canonical(merged)));
  ASSERT_TRUE(written.has_value());
  EXPECT_TRUE(written->damage.empty());
  for (SnapshotProcess& process : merged.processes) {
    if (process.kind == SnapshotProcess::Kind::kSummed) process = {};
    process.kind = SnapshotProcess::Kind::kApart;
    process.rows = merged.processes[0].rows;
  }
  ASSERT_GT(kProcesses * merged.processes[0].rows.size(), kMostProcessRows);
  const auto forged = DecodeCapture(EncodeCapture(Canonical(merged)));
  ASSERT_TRUE(forged.has_value());
  ASSERT_EQ(forged->damage.size(), 1u);
  EXPECT_EQ(forged->damage[0].section, "processes");
}

TEST(Capture, HasASectionOfSamplesOnlyIfThereAreAny) {
  for (const CaptureSection& section :
       SplitSections(EncodeCapture(Canonical(SampleSnapshot()))).sections) {
    EXPECT_NE(section.type, cf::kSampling);
  }
  // A reader that doesn't know it must not take estimates for facts.
  const std::string bytes = EncodeCapture(Canonical(EstimatedSnapshot()));
  uint32_t flags;
  std::memcpy(&flags, bytes.data() + SectionOffset(bytes, cf::kSampling) + 4, sizeof flags);
  EXPECT_NE(flags & cf::kFlagCritical, 0u);
}

TEST(Capture, RefusesEstimatesWhoseSamplingIsNotTold) {
  const std::string bytes = EncodeCapture(Canonical(EstimatedSnapshot()));
  const uint64_t at = SectionOffset(bytes, cf::kSampling);
  const uint64_t after = SectionOffset(bytes, cf::kSites);
  auto with = [&](const std::string& raw) {
    return DecodeCapture(bytes.substr(0, at) + Section(cf::kSampling, cf::kFlagCritical, raw) +
                         bytes.substr(after));
  };
  EXPECT_TRUE(with({"\x80\x04\x03\x04\x07\x08", 6}).has_value());
  EXPECT_FALSE(with({"\x80\x04\x02\x04\x07", 5}).has_value());      // other sites
  EXPECT_FALSE(with({"\x00\x03\x04\x07\x08", 5}).has_value());      // every 0 bytes
  EXPECT_FALSE(with({"\x80\x04\x03\x04\x07\x41", 6}).has_value());  // a size of 65 bits
  std::string damaged = bytes;
  damaged[at + cf::kSectionHeaderBytes] ^= 1;
  EXPECT_FALSE(DecodeCapture(damaged).has_value());
  // After the sites, whose figures were read by then.
  const uint64_t end = SectionOffset(bytes, cf::kEnd);
  EXPECT_FALSE(DecodeCapture(bytes.substr(0, at) + bytes.substr(after, end - after) +
                             bytes.substr(at, after - at) + bytes.substr(end))
                   .has_value());
}

// The worked example of CAPTURE_FORMAT.md, byte for byte.
TEST(Capture, HasTheBytesOfTheWorkedExample) {
  Snapshot s;
  s.modules = {{"/a", ""}};
  s.frames = {{0, 0x1010}};
  s.nodes = {{}, {0, 0}};
  s.thread_names = {"m"};
  s.sites = {{1, 0, {100, 1}, {0, 0}, {100, 1}}};
  const std::pair<uint32_t, std::string> expected[] = {
      {cf::kModules, std::string("\x01\x02/a\x00", 5)},
      {cf::kFrames, std::string("\x01\x02\xa0\x40", 4)},
      {cf::kNodes, std::string("\x01\x01\x00", 3)},
      {cf::kThreadNames, std::string("\x01\x01m", 3)},
      {cf::kSites, std::string("\x01\x02\x00\x64\x01\x00\x00\x64\x01", 9)},
  };
  const std::string capture = EncodeCapture(Canonical(s));
  Snapshot second = s;
  s.program.run_id = 1;
  second.program.run_id = 2;
  second.sites[0] = {1, 0, {30, 1}, {30, 1}, {30, 1}};
  SnapshotMerger merger;
  ASSERT_TRUE(merger.Add(s, 1).has_value());
  ASSERT_TRUE(merger.Add(second, 1).has_value());
  const std::string merge = EncodeCapture(merger.Take());
  const uint64_t processes = SectionOffset(merge, cf::kProcesses) + cf::kSectionHeaderBytes;
  EXPECT_EQ(
      merge.substr(processes, 18),
      std::string("\x00\x02\x03\x03\x00\x00\x64\x1e\x01\x01\x00\x1e\x00\x01\x64\x1e\x01\x01", 18));
  for (const auto& [type, raw] : expected) {
    bool found = false;
    for (const CaptureSection& section : SplitSections(capture).sections) {
      if (section.type != type) continue;
      EXPECT_EQ(section.raw, raw) << SectionName(type);
      found = true;
    }
    EXPECT_TRUE(found) << SectionName(type);
  }
}

TEST(Capture, IsSmallForAServicesTree) {
  EXPECT_LT(EncodeCapture(Canonical(LargeSnapshot(3000))).size(), 32u * 1024);
}

TEST(Capture, NeverCrashesOnAFileCutAnywhere) {
  const std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = DecodeCapture(std::string_view(bytes).substr(0, size));
    if (read) {
      EXPECT_FALSE(read->damage.empty()) << size;
    } else {
      EXPECT_EQ(read.error().kind, ErrorKind::kUnreadable);
      EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
    }
  }
}

TEST(Capture, NoticesEveryByteThatIsChanged) {
  const std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto read = DecodeCapture(damaged);
      // The flags of the file header and the checksummed sections' unused flag bits aside.
      if (read && read->damage.empty()) {
        EXPECT_EQ(read->snapshot, Canonical(SampleSnapshot())) << at;
      }
    }
  }
}

TEST(Capture, ReadsTheRestWhenTheProgramsSectionIsDamaged) {
  std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  bytes[SectionOffset(bytes, cf::kProgram) + cf::kSectionHeaderBytes] ^= 1;
  const auto read = DecodeCapture(bytes);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->damage.size(), 1u);
  EXPECT_EQ(read->damage[0].section, "program");
  EXPECT_GT(read->damage[0].bytes, 0u);
  EXPECT_EQ(SumPeak(read->snapshot).bytes, 350u);
}

TEST(Capture, RefusesToTellFiguresFromADamagedTree) {
  std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  bytes[SectionOffset(bytes, cf::kNodes) + cf::kSectionHeaderBytes] ^= 1;
  const auto read = DecodeCapture(bytes);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("'nodes'"), std::string::npos);
}

TEST(Capture, SkipsASectionThatItDoesNotKnow) {
  std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  const uint64_t end = SectionOffset(bytes, cf::kEnd);
  std::string newer = bytes.substr(0, end) + Section(99, 0, "from the future");
  newer += Section(cf::kEnd, 0, std::string(1, 8));
  const auto read = DecodeCapture(newer);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->damage.empty());
  EXPECT_EQ(read->snapshot, Canonical(SampleSnapshot()));

  newer = bytes.substr(0, end) + Section(99, cf::kFlagCritical, "") + bytes.substr(end);
  EXPECT_FALSE(DecodeCapture(newer).has_value());
}

TEST(Capture, SaysInOneLineWhatIsNoCapture) {
  for (const std::string& foreign :
       {std::string(), std::string("ELF"), std::string(100000, '\0'), std::string("MEMPROFC")}) {
    const auto read = DecodeCapture(foreign);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().kind, ErrorKind::kUnreadable);
  }
}

TEST(Capture, AllocatesNoMoreThanTheFileCanHold) {
  // A section that claims 2^60 bytes, and counts that no content can have.
  ByteWriter huge;
  huge.Varint(uint64_t{1} << 60);
  std::string bytes(cf::kMagic, sizeof cf::kMagic);
  ByteWriter version;
  version.Fixed(cf::kVersion);
  version.Fixed(uint32_t{0});
  bytes += version.bytes();
  for (const uint32_t type :
       {cf::kModules, cf::kFrames, cf::kNodes, cf::kThreadNames, cf::kSites}) {
    EXPECT_FALSE(DecodeCapture(bytes + Section(type, 0, huge.bytes())).has_value());
  }
}

class CaptureFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/memprof-capture-test-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_;
};

TEST_F(CaptureFile, IsWrittenWholeAndForItsOwnerOnly) {
  const std::string file = directory_ / "x.memprof";
  ASSERT_TRUE(WriteCaptureFile(file, Canonical(SampleSnapshot())).has_value());
  struct stat info;
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(*ReadWholeFile(file), EncodeCapture(Canonical(SampleSnapshot())));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(CaptureFile, ReplacesASymbolicLinkAndDoesNotFollowIt) {
  const std::string target = directory_ / "target";
  ASSERT_TRUE(WriteFileAtomically(target, "mine", Readers::kOwner).has_value());
  std::filesystem::create_symlink(target, directory_ / "x.memprof");
  ASSERT_TRUE(WriteCaptureFile(directory_ / "x.memprof", Canonical(SampleSnapshot())).has_value());
  EXPECT_EQ(*ReadWholeFile(target), "mine");
}

TEST_F(CaptureFile, SaysWhyItCannotBeWrittenAndLeavesNothingBehind) {
  const auto nowhere = WriteCaptureFile(directory_ / "no" / "x", Canonical(SampleSnapshot()));
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kIo);
  std::filesystem::create_directory(directory_ / "taken");
  EXPECT_FALSE(WriteCaptureFile(directory_ / "taken", Canonical(SampleSnapshot())).has_value());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST(CaptureDump, ShowsEverySectionAndWhatIsWrongWithIt) {
  std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  const auto text = DumpCapture(bytes);
  ASSERT_TRUE(text.has_value());
  for (const char* name : {"program", "tracker", "modules", "frames", "nodes", "thread names",
                           "sites", "/usr/bin/service", "250/2"}) {
    EXPECT_NE(text->find(name), std::string::npos) << name;
  }
  bytes[SectionOffset(bytes, cf::kSites) + cf::kSectionHeaderBytes] ^= 1;
  EXPECT_NE(DumpCapture(bytes)->find("its checksum is wrong"), std::string::npos);
  EXPECT_FALSE(DumpCapture("nothing").has_value());
}

// main → (Python) leak, line 8 → (Python) build, line 6.
Snapshot PythonSnapshot() {
  Snapshot s = SampleSnapshot();
  s.python = {{"/srv/a.py", "build", 5}, {"/srv/a.py", "leak", 7}};
  s.frames = {{0, 0x1010}, {kNoModule, PythonOffset(1, 8)}, {kNoModule, PythonOffset(0, 6)}};
  s.nodes = {{0, 0}, {0, 0}, {1, 1}, {2, 2}, {1, 2}};
  return s;
}

TEST(Capture, KeepsPythonFunctions) {
  const auto canonical = Canonical(PythonSnapshot());
  const auto content = DecodeCapture(EncodeCapture(canonical));
  ASSERT_TRUE(content);
  EXPECT_EQ(content->snapshot, *canonical);
  EXPECT_EQ(content->snapshot.python, PythonSnapshot().python);
}

TEST(Capture, HasNoPythonSectionWithoutPythonFrames) {
  const std::string bytes = EncodeCapture(Canonical(SampleSnapshot()));
  for (const CaptureSection& section : SplitSections(bytes).sections) {
    EXPECT_NE(SectionName(section.type), "python");
  }
}

TEST(Capture, KeepsFramesWhosePythonFunctionsAreDamaged) {
  std::string bytes = EncodeCapture(Canonical(PythonSnapshot()));
  for (const CaptureSection& section : SplitSections(bytes).sections) {
    if (SectionName(section.type) != "python") continue;
    bytes[section.file_offset + capture_format::kSectionHeaderBytes] ^= 1;
  }
  const auto content = DecodeCapture(bytes);
  ASSERT_TRUE(content);
  ASSERT_EQ(content->damage.size(), 1u);
  EXPECT_EQ(content->damage[0].section, "python");
  EXPECT_EQ(content->snapshot.python, (std::vector<SnapshotPythonFunction>{{"", "?", 0}}));
  EXPECT_EQ(SumPeak(content->snapshot), SumPeak(PythonSnapshot()));
}

TEST(Capture, KeepsFramesWhosePythonFunctionsComeAfterThem) {
  const std::string bytes = EncodeCapture(Canonical(PythonSnapshot()));
  const std::vector<CaptureSection> sections = SplitSections(bytes).sections;
  const auto whole = [&](const CaptureSection& section) {
    return bytes.substr(section.file_offset,
                        capture_format::kSectionHeaderBytes + section.stored_bytes);
  };
  std::string moved = bytes.substr(0, sections.front().file_offset), python;
  for (const CaptureSection& section : sections) {
    (SectionName(section.type) == "python" ? python : moved) += whole(section);
  }
  moved += python + bytes.substr(moved.size() + python.size());  // the end section
  ASSERT_FALSE(python.empty());
  const auto content = DecodeCapture(moved);
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->damage.size(), 1u);
  EXPECT_EQ(content->damage[0].section, "python");
  EXPECT_EQ(content->snapshot.python, (std::vector<SnapshotPythonFunction>{{"", "?", 0}}));
  EXPECT_TRUE(DecodeCapture(EncodeCapture(Canonical(content->snapshot))));
}

TEST(Capture, RefusesAFrameOfNoPythonFunction) {
  Snapshot snapshot = PythonSnapshot();
  std::string python = EncodePython(snapshot.python);
  EXPECT_TRUE(CheckPythonFrames(false, snapshot));
  snapshot.frames[1].offset = PythonOffset(2, 8);
  EXPECT_FALSE(CheckPythonFrames(false, snapshot));
}

TEST(Capture, MergesPythonFunctionsOfTheSameNameAndPlace) {
  Snapshot other = PythonSnapshot();
  other.program.pid = 4712;
  other.python = {{"/srv/a.py", "leak", 7}, {"/srv/a.py", "build", 5}, {"/srv/b.py", "only", 1}};
  other.frames = {{0, 0x1010}, {kNoModule, PythonOffset(0, 8)}, {kNoModule, PythonOffset(2, 1)}};
  SnapshotMerger merger;
  ASSERT_TRUE(merger.Add(PythonSnapshot(), 1));
  ASSERT_TRUE(merger.Add(other, 2));
  const auto merged = merger.Take();
  EXPECT_EQ(merged->python,
            (std::vector<SnapshotPythonFunction>{
                {"/srv/a.py", "build", 5}, {"/srv/a.py", "leak", 7}, {"/srv/b.py", "only", 1}}));
  EXPECT_EQ(SumPeak(*merged).bytes, 2 * SumPeak(PythonSnapshot()).bytes);
}

}  // namespace
}  // namespace memprof
