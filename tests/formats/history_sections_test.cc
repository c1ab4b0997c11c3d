#include "formats/capture/history_sections.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"
#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

Snapshot WithHistory() {
  Snapshot s = SampleSnapshot();
  s.timeline = {8, {{0, 0, 4096}, {8, 100, 8192}, {17, 350, 8192}, {1500, 100, std::nullopt}}};
  s.moments = {16, {{16, false}, {33, true}, {48, false}}};
  s.sites[0].history = {{1, {100, 1}}};
  s.sites[1].history = {{0, {250, 2}}, {2, {0, 0}}};
  return s;
}

TEST(HistorySections, GiveBackWhatWasWritten) {
  const auto read = DecodeCapture(EncodeCapture(Canonical(WithHistory())));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->damage.empty());
  EXPECT_EQ(read->snapshot, Canonical(WithHistory()));
  EXPECT_EQ(read->snapshot.timeline, WithHistory().timeline);
}

TEST(HistorySections, OfSitesThatAreTheSameAreTheirSum) {
  Snapshot s = WithHistory();
  SnapshotSite half = s.sites[0];
  half.peak = half.leaked = half.total = {};
  half.history = {{0, {1, 1}}, {2, {0, 0}}};
  s.sites.push_back(half);
  const auto read = DecodeCapture(EncodeCapture(Canonical(s)));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->snapshot.sites[1].history,  // canonical order
            (LiveHistory{{0, {1, 1}}, {1, {101, 2}}, {2, {100, 1}}}));
}

// The example of CAPTURE_FORMAT.md.
TEST(HistorySections, HaveTheBytesOfTheWorkedExample) {
  Snapshot s;
  s.timeline = {4, {{0, 0, 4095}, {4, 100, std::nullopt}}};
  s.moments = {16, {{16, false}, {32, true}}};
  s.sites = {{1, 0, {100, 1}, {0, 0}, {100, 1}, 0, {}, {}, {}, {{1, {100, 1}}}}};
  EXPECT_EQ(EncodeTimeline(s.timeline),
            std::string("\x04\x02\x00\x04\x00\xc8\x01\x80\x40\xff\x3f", 11));
  EXPECT_EQ(EncodeMoments(s),
            std::string("\x10\x02\x10\x10\x00\x01\x01\x00\x01\x01\xc8\x01\x02", 13));
}

TEST(HistorySections, OfASteadyProgramTakeNextToNothing) {
  Snapshot s = LargeSnapshot(3000);
  const size_t without = EncodeCapture(Canonical(s)).size();
  s.timeline.interval_ms = s.moments.interval_ms = 1024;
  for (uint64_t i = 0; i < kMaxTimelinePoints; ++i) {
    s.timeline.points.push_back({i * 1024, 5'000'000, 9'000'000});
  }
  for (uint64_t i = 0; i < kMaxMoments; ++i) s.moments.at.push_back({i * 1024, false});
  for (SnapshotSite& site : s.sites) site.history = {{0, site.peak}};
  EXPECT_LT(EncodeCapture(Canonical(s)).size(), without + 5000);
}

bool IsBroken(const std::string& raw) {
  Snapshot s = SampleSnapshot();
  return !DecodeMoments(raw, s);
}

std::string Bytes(std::initializer_list<uint64_t> values) {
  ByteWriter out;
  for (const uint64_t value : values) out.Varint(value);
  return out.bytes();
}

TEST(HistorySections, RefuseWhatIsOutOfRange) {
  // interval, moments, times, inexact, sites, site, changes, moment, bytes, blocks
  EXPECT_FALSE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 0, 1, 1, 2, 2})));
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 4, 1, 1, 2, 2})));  // no such site
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 0, 1, 2, 2, 2})));  // no such moment
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 0, 0, 1, 2, 2})));  // no changes
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 0, 3, 0, 1, 1, 2, 2, 2, 2, 2, 2})));
  // A site twice, a moment twice.
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 2, 0, 0, 1, 1, 0, 0, 2, 2, 2, 2})));
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 0, 2, 0, 0, 2, 2, 2, 2})));
  // A change that changes nothing, no moments at all.
  EXPECT_TRUE(IsBroken(Bytes({16, 2, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0})));
  EXPECT_TRUE(IsBroken(Bytes({16, 0, 0})));
  // Times beyond the end of time.
  EXPECT_TRUE(IsBroken(Bytes({16, 2, ~uint64_t{0}, 1, 0, 0, 0})));
  EXPECT_TRUE(IsBroken(Bytes({16, 1, ~uint64_t{0}, 0, 0})));
  Timeline timeline;
  EXPECT_FALSE(DecodeTimeline(Bytes({4, 1, ~uint64_t{0}, 0, 0}), timeline));
  EXPECT_TRUE(DecodeTimeline(Bytes({4, 1, INT64_MAX, 0, 0}), timeline));
}

TEST(HistorySections, AllocateNoMoreThanTheirLimits) {
  Timeline timeline;
  std::string points = Bytes({4, kMaxTimelinePoints + 1}) + std::string(3 * 513, '\1');
  EXPECT_FALSE(DecodeTimeline(points, timeline));
  EXPECT_TRUE(timeline.points.empty());
  EXPECT_TRUE(IsBroken(Bytes({16, kMaxMoments + 1}) + std::string(1000, '\1')));
  EXPECT_TRUE(IsBroken(Bytes({16, uint64_t{1} << 60})));

  // Each site's count of changes fits the remaining bytes; all together are too many.
  Snapshot s;
  s.nodes = {{}};
  s.thread_names = {""};
  s.sites.resize(kMaxLiveChanges / kMaxMoments + 2);
  s.moments = {1, std::vector<Moment>(kMaxMoments)};
  for (uint64_t i = 0; i < kMaxMoments; ++i) s.moments.at[i].time_ms = i;
  for (SnapshotSite& site : s.sites) {
    for (uint32_t i = 0; i < kMaxMoments; ++i) site.history.push_back({i, {i % 2 + 1, 0}});
  }
  const std::string raw = EncodeMoments(s);
  EXPECT_FALSE(DecodeMoments(raw, s));
}

TEST(HistorySections, NeverCrashOnDamage) {
  const Snapshot s = Canonical(WithHistory());
  const std::string moments = EncodeMoments(s), timeline = EncodeTimeline(s.timeline);
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = i % 2 == 0 ? moments : timeline;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(bytes.size() - random() % 3);
    Snapshot read = SampleSnapshot();
    if (i % 2 == 1) {
      DecodeTimeline(bytes, read.timeline);
    } else if (DecodeMoments(bytes, read)) {
      for (const SnapshotSite& site : read.sites) {
        for (const LiveChange& change : site.history) {
          ASSERT_LT(change.moment, read.moments.at.size());
        }
      }
    }
  }
}

TEST(HistorySections, AreLostAloneWhenTheyAreDamaged) {
  const std::string bytes = EncodeCapture(Canonical(WithHistory()));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto read = DecodeCapture(damaged);
    if (!read || read->damage.empty() || read->damage[0].section != "moments") continue;
    EXPECT_EQ(read->snapshot.moments, Moments());
    for (const SnapshotSite& site : read->snapshot.sites) EXPECT_TRUE(site.history.empty());
    EXPECT_EQ(SumPeak(read->snapshot), SumPeak(WithHistory()));
  }
}

Snapshot WithNamed() {
  Snapshot s = WithHistory();
  s.named = {{{"warm", 20, true}, {"after load", 40, false}}, 3};
  s.sites[0].named = {{1, {77, 7}}};
  s.sites[1].named = {{0, {5, 1}}, {1, {0, 0}}};
  return s;
}

TEST(NamedMoments, GiveBackWhatWasWritten) {
  const auto read = DecodeCapture(EncodeCapture(Canonical(WithNamed())));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->damage.empty());
  EXPECT_EQ(read->snapshot, Canonical(WithNamed()));
  EXPECT_EQ(read->snapshot.named, WithNamed().named);
}

TEST(NamedMoments, AreInOneOrderWhateverOrderTheyWereToldIn) {
  Snapshot other = WithNamed();
  std::swap(other.named.taken[0], other.named.taken[1]);
  other.sites[0].named = {{0, {77, 7}}, {1, {0, 0}}};
  other.sites[1].named = {{1, {5, 1}}};
  EXPECT_EQ(Canonical(other), Canonical(WithNamed()));
}

TEST(NamedMoments, KeepASiteThatHasNothingElse) {
  Snapshot s = WithNamed();
  SnapshotSite only = {2, 0, {}, {}, {}};
  only.named = {{0, {1, 1}}};
  s.sites.push_back(only);
  EXPECT_EQ(Canonical(s)->sites.size(), 3u);
}

// The example of CAPTURE_FORMAT.md.
TEST(NamedMoments, HaveTheBytesOfTheWorkedExample) {
  Snapshot s;
  s.named = {{{"warm", 20, true}}, 1};
  s.sites = {{1, 0, {100, 1}, {0, 0}, {100, 1}}};
  s.sites[0].named = {{0, {100, 1}}};
  EXPECT_EQ(EncodeNamed(s),
            std::string("\x01\x01\x04warm\x14\x01\x01\x00\x01\x00\xc8\x01\x02", 16));
}

TEST(NamedMoments, OfABrokenSectionAreRefused) {
  const auto decode = [](const std::vector<std::string>& names, uint64_t moment) {
    ByteWriter out;
    out.Varint(0);
    out.Varint(names.size());
    for (const std::string& name : names) out.String(name);
    for (size_t i = 0; i < names.size(); ++i) out.Varint(5);  // ms later
    for (size_t i = 0; i < names.size(); ++i) out.Varint(0);  // exact
    out.Varint(1);                                            // a site
    out.Signed(0);
    out.Varint(1);
    out.Varint(moment);
    out.Signed(10);
    out.Signed(1);
    Snapshot s = SampleSnapshot();
    return DecodeNamed(out.bytes(), s);
  };
  EXPECT_TRUE(decode({"a", "b"}, 1));
  EXPECT_FALSE(decode({"a", "b"}, 2));    // no such snapshot
  EXPECT_FALSE(decode({"a", "a"}, 1));    // twice
  EXPECT_FALSE(decode({"a", "b/c"}, 1));  // could never be named
  EXPECT_FALSE(decode({"a", ""}, 1));
  std::vector<std::string> many;
  for (size_t i = 0; i < kMaxNamedMoments; ++i) many.push_back(std::to_string(i));
  EXPECT_TRUE(decode(many, 1));
  many.push_back("one more");
  EXPECT_FALSE(decode(many, 1));
}

TEST(NamedMoments, ThatAreDamagedLeaveTheRest) {
  Snapshot whole = WithNamed();
  Snapshot without = whole;
  without.named = {};
  for (SnapshotSite& site : without.sites) site.named = {};
  std::string bytes = EncodeCapture(Canonical(whole));
  const size_t at = bytes.find("after load");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'A';
  const auto read = DecodeCapture(bytes);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->damage.size(), 1u);
  EXPECT_EQ(read->damage[0].section, "named snapshots");
  EXPECT_EQ(read->snapshot, Canonical(without));
}

}  // namespace
}  // namespace memprof
