#include "formats/capture/capture_symbols.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_dump.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_sections.h"
#include "formats/capture/capture_writer.h"
#include "formats/capture/section_writer.h"
#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

namespace cf = capture_format;

// The symbols of SampleSnapshot: one inlined function, one name without a file, one module that
// lacks something.
StoredSymbols SampleSymbols() {
  StoredSymbols symbols;
  symbols.chains = {{{"main", "/src/main.cc", 7, false}},
                    {{"grow<int>", "/src/grow.h", 3, true}, {"parse", "/src/main.cc", 90, false}},
                    {{"qsort", "", 0, false}},
                    {}};
  symbols.notes = {"", "libc.so.6: no debug info"};
  return symbols;
}

std::string Sample() { return EncodeCapture(Canonical(SampleSnapshot())); }

// The symbols read from these bytes of a symbols section; everything else must stay intact.
StoredSymbols Read(const std::string& raw, size_t* damaged = nullptr) {
  StoredSymbols symbols;
  const bool whole = DecodeSymbols(raw, 2, 4, symbols);
  if (damaged != nullptr) *damaged = whole ? 0 : 1;
  return whole ? symbols : StoredSymbols();
}

TEST(CaptureSymbols, AreReadAsTheyWereStored) {
  const auto bytes = WithSymbols(Sample(), SampleSymbols());
  ASSERT_TRUE(bytes);
  const auto content = DecodeCapture(*bytes);
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->damage.empty());
  EXPECT_EQ(content->symbols, SampleSymbols());
  EXPECT_EQ(content->snapshot, DecodeCapture(Sample())->snapshot);
}

TEST(CaptureSymbols, OfACaptureWithoutThemAreEmpty) {
  EXPECT_TRUE(DecodeCapture(Sample())->symbols.empty());
}

TEST(CaptureSymbols, LeaveAllOtherSectionsAsTheyAreAlsoThoseOfANewerWriter) {
  std::string newer = Sample();
  const size_t end = newer.size() - cf::kSectionHeaderBytes - 1;
  const std::string foreign = [] {
    ByteWriter out;
    out.Fixed(uint32_t{777});
    out.Fixed(uint32_t{0});
    out.Fixed(uint64_t{3});
    out.Fixed(uint64_t{3});
    out.Fixed(uint64_t{0});  // its checksum is not looked at here
    out.Raw("abc");
    return out.bytes();
  }();
  newer.insert(end, foreign);
  const auto bytes = WithSymbols(newer, SampleSymbols());
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->substr(0, end + foreign.size()), newer.substr(0, end + foreign.size()));
  EXPECT_TRUE(SplitSections(*bytes).complete);
}

TEST(CaptureSymbols, ReplaceThoseThatWereThere) {
  StoredSymbols other = SampleSymbols();
  other.chains[0][0].line = 8;
  const auto once = WithSymbols(Sample(), SampleSymbols());
  const auto twice = WithSymbols(*WithSymbols(Sample(), other), SampleSymbols());
  EXPECT_EQ(*once, *twice);
}

TEST(CaptureSymbols, AreShownByParse) {
  const auto text = DumpCapture(*WithSymbols(Sample(), SampleSymbols()));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("> grow<int> /src/grow.h:3"), std::string::npos) << *text;
  EXPECT_NE(text->find("libc.so.6: no debug info"), std::string::npos);
}

TEST(CaptureSymbols, ThatAreDamagedCostNoFigure) {
  const std::string whole = *WithSymbols(Sample(), SampleSymbols());
  const size_t name = whole.find("/src/grow.h");
  ASSERT_NE(name, std::string::npos);  // too small to be compressed
  std::string damaged = whole;
  damaged[name] = 'X';
  const auto content = DecodeCapture(damaged);
  ASSERT_TRUE(content);
  ASSERT_EQ(content->damage.size(), 1u);
  EXPECT_EQ(content->damage[0].section, "symbols");
  EXPECT_TRUE(content->symbols.empty());
  EXPECT_EQ(SumPeak(content->snapshot), SumPeak(SampleSnapshot()));
}

TEST(CaptureSymbols, ThatComeBeforeWhatTheyAreOfAreDamage) {
  const std::string sample = Sample();
  ByteWriter out;
  out.Raw(sample.substr(0, cf::kFileHeaderBytes));
  // With another number of modules and frames than the capture has.
  AppendSection(out, cf::kSymbols, *EncodeSymbols({}));
  out.Raw(sample.substr(cf::kFileHeaderBytes));
  const auto content = DecodeCapture(out.bytes());
  ASSERT_TRUE(content);
  ASSERT_GE(content->damage.size(), 1u);
  EXPECT_EQ(content->damage[0].section, "symbols");
  EXPECT_TRUE(content->symbols.empty());

  // With notes on the modules, but of no frame.
  for (const CaptureSection& section : SplitSections(sample).sections) {
    if (section.type != cf::kFrames) continue;
    ByteWriter between;
    between.Raw(sample.substr(0, section.file_offset));
    AppendSection(between, cf::kSymbols, *EncodeSymbols({{}, {"", ""}}));
    between.Raw(sample.substr(section.file_offset));
    const auto read = DecodeCapture(between.bytes());
    ASSERT_TRUE(read);
    ASSERT_GE(read->damage.size(), 1u);
    EXPECT_EQ(read->damage[0].section, "symbols");
    EXPECT_TRUE(read->symbols.empty());  // else a report would look for the frames' names in it
  }
}

TEST(CaptureSymbols, MustBeOfTheCapturesFramesAndModules) {
  const std::string raw = *EncodeSymbols(SampleSymbols());
  StoredSymbols read;
  EXPECT_TRUE(DecodeSymbols(raw, 2, 4, read));
  for (const auto& [modules, frames] : {std::pair<size_t, size_t>{1, 4}, {3, 4}, {2, 3}, {2, 5}}) {
    StoredSymbols refused;
    EXPECT_FALSE(DecodeSymbols(raw, modules, frames, refused)) << modules << " " << frames;
  }
}

TEST(CaptureSymbols, NeverNameAFunctionWithNothing) {
  StoredSymbols nameless = SampleSymbols();
  nameless.chains[0][0].function = "";
  StoredSymbols read;
  EXPECT_FALSE(DecodeSymbols(*EncodeSymbols(nameless), 2, 4, read));
}

TEST(CaptureSymbols, ThatReferToOneLongNameWithoutEndAreRefused) {
  // A megabyte once, and two thousand frames that all have it: two gigabytes.
  ByteWriter out;
  out.Varint(1);
  out.String(std::string(1 << 20, 'x'));
  out.Varint(0);
  out.Varint(1);
  out.Varint(2048);
  for (int i = 0; i < 3 * 2048; ++i) out.Signed(0);
  StoredSymbols read;
  EXPECT_FALSE(DecodeSymbols(out.bytes(), 0, 1, read));
}

TEST(CaptureSymbols, WhoseModulesAllHaveOneLongNoteAreRefusedBeforeTheyAreMade) {
  constexpr size_t kModules = 1100;
  ByteWriter out;
  out.Varint(1);
  out.String(std::string(1 << 20, 'x'));
  out.Varint(kModules);
  for (size_t i = 0; i < kModules; ++i) out.Varint(0);
  out.Varint(0);
  StoredSymbols read;
  EXPECT_FALSE(DecodeSymbols(out.bytes(), kModules, 0, read));
  EXPECT_TRUE(read.notes.empty());
}

TEST(CaptureSymbols, ThatClaimMoreFramesThanTheyHaveBytesAreRefusedBeforeTheyAreMade) {
  for (const uint64_t length : {uint64_t{1} << 20, uint64_t{1} << 40, ~uint64_t{0}}) {
    ByteWriter out;
    out.Varint(1);
    out.String("x");
    out.Varint(0);
    out.Varint(1);
    out.Varint(length);
    StoredSymbols read;
    EXPECT_FALSE(DecodeSymbols(out.bytes(), 0, 1, read));
  }
}

TEST(CaptureSymbols, OfAnyBytesAreRefusedOrReadAgainTheSame) {
  const std::string raw = *EncodeSymbols(SampleSymbols());
  std::mt19937 random(3);
  size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string changed = raw;
    changed[random() % changed.size()] = static_cast<char>(random());
    if (round % 3 == 0) changed.resize(random() % changed.size());
    size_t damaged = 0;
    const StoredSymbols read = Read(changed, &damaged);
    refused += damaged;
    if (damaged != 0) continue;
    StoredSymbols again;
    ASSERT_TRUE(DecodeSymbols(*EncodeSymbols(read), 2, 4, again));
    ASSERT_EQ(again, read);
  }
  EXPECT_GT(refused, 5000u);
}

}  // namespace
}  // namespace memprof
