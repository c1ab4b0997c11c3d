#include "cli/web/page_bands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "cli/web/page.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

using Json = nlohmann::json;

const TestFrame kMain{"main", "m.cc", 1},
    kMalloc{"malloc", "", 0, "/lib/x86_64-linux-gnu/libc.so.6"};

// Three moments, at 1 s, 2 s and 3 s.
class Program {
 public:
  Program() { builder_.profile().moments = {1000, {{1000, false}, {2000, false}, {3000, false}}}; }

  Program& Site(const std::vector<TestFrame>& stack, const std::vector<Count>& live,
                const char* runtime_reason = nullptr) {
    builder_.Site(stack, {.peak = live[0], .runtime_reason = runtime_reason});
    LiveHistory& history = builder_.profile().sites.back().history;
    for (uint32_t i = 0; i < live.size(); ++i) AddChange(history, i, live[i]);
    return *this;
  }

  Profile& profile() { return builder_.profile(); }

 private:
  ProfileBuilder builder_{"demo"};
};

PageBands BandsOf(const Profile& profile) { return MakePageBands(profile, MergeTree(profile)); }

std::string Text(const std::vector<Count>& live) {
  std::string text;
  for (const Count& count : live) text += fmt::format(" {}/{}", count.bytes, count.allocations);
  return text;
}

TEST(PageBands, CountsABlockByTheInnermostFunctionThatIsNoSystemCode) {
  Program program;
  program.Site({kMain, {"load", "l.cc", 2}, kMalloc}, {{10, 1}, {30, 3}, {0, 0}})
      .Site({kMain, {"load", "l.cc", 9}}, {{1, 1}, {1, 1}, {1, 1}})
      .Site({kMain}, {{5, 1}, {5, 1}, {7, 2}})
      .Site({kMalloc}, {{0, 0}, {3, 1}, {3, 1}})
      .Site({kMain, {"pool", "", 0}}, {{2, 1}, {2, 1}, {2, 1}}, "emergency pool");
  const PageBands page = BandsOf(program.profile());
  std::vector<std::string> bands;
  for (const PageBand& band : page.bands) bands.push_back(band.function.function + Text(band.live));
  EXPECT_EQ(bands, (std::vector<std::string>{"load 11/2 31/4 1/1", "main 5/1 5/1 7/2",
                                             "[system frames] 0/0 3/1 3/1",
                                             "[runtime, kept by design] 2/1 2/1 2/1"}));
  EXPECT_EQ(Text(page.others), " 0/0 0/0 0/0");
}

TEST(PageBands, AreOfThoseThatHoldMostByBytesAndOfThoseThatHoldMostBlocks) {
  Program program;
  for (uint64_t i = 0; i < 20; ++i) {
    // By bytes f19 is the largest, by blocks f0; f3 has its most at the second moment.
    const uint64_t bytes = 1000 + i, blocks = 100 - i;
    program.Site({kMain, {fmt::format("f{}", i), "f.cc", 1}},
                 {{bytes, blocks}, {i == 3 ? 9000 : bytes, blocks}, {bytes, blocks}});
  }
  const PageBands page = BandsOf(program.profile());
  std::vector<std::string> names;
  for (const PageBand& band : page.bands) names.push_back(band.function.function);
  EXPECT_EQ(names, (std::vector<std::string>{"f3", "f19", "f18", "f17", "f16", "f15", "f14", "f13",
                                             "f0", "f1", "f2", "f4", "f5", "f6", "f7"}));
}

TEST(PageBands, SumWithTheOthersToWhatWasLiveAtEachMoment) {
  std::mt19937 random(7);
  Program program;
  std::vector<Count> live(3);
  for (int i = 0; i < 500; ++i) {
    std::vector<Count> counts;
    for (size_t m = 0; m < 3; ++m) {
      const Count count = {random() % 100'000, random() % 100};
      live[m] += count;
      counts.push_back(count);
    }
    program.Site({kMain, {fmt::format("f{}", random() % 60), "f.cc", 1}}, counts);
  }
  const PageBands page = BandsOf(program.profile());
  EXPECT_GE(page.bands.size(), kBandsByMeasure);
  for (size_t m = 0; m < 3; ++m) {
    Count sum = page.others[m];
    EXPECT_GT(sum.bytes, 0u);
    for (const PageBand& band : page.bands) sum += band.live[m];
    EXPECT_EQ(sum, live[m]);
  }
  // The page's own sums, over nodes, are the same.
  const Json data = Json::parse(PageData(program.profile(), {}));
  for (size_t m = 0; m < 3; ++m) EXPECT_EQ(data["moments"]["heap_bytes"][m], live[m].bytes);
  EXPECT_EQ(data["bands"]["time_ms"], Json({1000, 2000, 3000}));
  EXPECT_EQ(data["bands"]["functions"].size(), page.bands.size());
}

TEST(PageBands, TellHowManyCapturesOfAMergeHaveNoMoments) {
  Program program;
  program.Site({kMain}, {{1, 1}, {1, 1}, {1, 1}});
  program.profile().sources.resize(3);
  program.profile().sources[1].has_moments = true;
  const Json data = Json::parse(PageData(program.profile(), {}));
  EXPECT_EQ(data["bands"]["sources_without"], 2);
}

TEST(PageBands, AreAbsentIfNobodyWatched) {
  Program program;
  program.Site({kMain}, {{1, 1}, {1, 1}, {1, 1}});
  program.profile().moments = {};
  program.profile().sites[0].history.clear();
  EXPECT_TRUE(BandsOf(program.profile()).others.empty());
  EXPECT_FALSE(Json::parse(PageData(program.profile(), {})).contains("bands"));
}

}  // namespace
}  // namespace memprof
