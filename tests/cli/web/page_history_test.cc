#include "cli/web/page_history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/web/page.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

using Json = nlohmann::json;

Profile WithHistory() {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"load", "l.cc", 2}}, {{100, 1}, {7, 1}, {1000, 9}});
  b.Site({{"main", "m.cc", 1}, {"load", "l.cc", 3}}, {{1, 1}, {0, 0}, {10, 1}});
  b.Site({{"main", "m.cc", 1}, {"serve", "s.cc", 3}}, {{23, 2}, {0, 0}, {50, 4}});
  Profile& profile = b.profile();
  profile.timeline = {8, {{0, 0, 4096}, {8, 123, std::nullopt}}};
  profile.moments = {16, {{16, false}, {32, true}, {48, false}}};
  profile.sites[0].history = {{0, {100, 1}}, {2, {40, 1}}};
  profile.sites[1].history = {{1, {8, 1}}};
  profile.sites[2].history = {{1, {23, 2}}, {2, {0, 0}}};
  return profile;
}

// The live bytes at a moment, of all nodes or one, as the page sums them.
int64_t LiveBytes(const Json& data, size_t moment, int64_t node = -1) {
  const Json& history = data["history"];
  int64_t live = 0;
  size_t at = 0;
  for (size_t k = 0; k < history["node"].size(); ++k) {
    for (size_t i = 0; i < history["changes"][k].get<size_t>(); ++i, ++at) {
      const bool counts = node < 0 || history["node"][k].get<int64_t>() == node;
      if (counts && history["moment"][at].get<size_t>() <= moment) {
        live += history["bytes"][at].get<int64_t>();
      }
    }
  }
  EXPECT_EQ(at, history["moment"].size());
  return live;
}

TEST(PageHistory, SumsToWhatWasLiveAtEachMoment) {
  const Json data = Json::parse(PageData(WithHistory(), {}));
  EXPECT_EQ(data["moments"]["time_ms"], Json({16, 32, 48}));
  EXPECT_EQ(data["moments"]["inexact"], Json({0, 1, 0}));
  EXPECT_EQ(data["moments"]["heap_bytes"], Json({100, 131, 48}));
  EXPECT_EQ(data["moments"]["allocations"], Json({1, 4, 2}));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(LiveBytes(data, i), data["moments"]["heap_bytes"][i].get<int64_t>());
  }
  // The two lines of load are one node.
  ASSERT_EQ(data["history"]["node"].size(), 2u);
  EXPECT_EQ(LiveBytes(data, 1, data["history"]["node"][0].get<int64_t>()), 108);
  EXPECT_EQ(data["timeline"]["heap_bytes"], Json({0, 123}));
  EXPECT_TRUE(data["timeline"]["rss_bytes"][1].is_null());
  EXPECT_FALSE(data.contains("selected"));
}

TEST(PageHistory, IsThinnedToItsRoomAndStillSums) {
  PageOptions options;
  options.limits.max_history_bytes = 80;  // four changes
  const Json data = Json::parse(PageData(WithHistory(), options));
  EXPECT_EQ(data["moments"]["time_ms"], Json({16, 48}));
  EXPECT_EQ(data["moments"]["interval_ms"], 32);
  EXPECT_EQ(data["moments"]["heap_bytes"], Json({100, 48}));
  EXPECT_EQ(LiveBytes(data, 0), 100);
  EXPECT_EQ(LiveBytes(data, 1), 48);
}

TEST(PageHistory, OfPrunedNodesIsInTheirRow) {
  PageOptions options;
  options.limits.max_nodes = 3;
  const Json data = Json::parse(PageData(WithHistory(), options));
  EXPECT_GT(data["pruned_nodes"].get<int>(), 0);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(LiveBytes(data, i), data["moments"]["heap_bytes"][i].get<int64_t>());
  }
  EXPECT_EQ(data["moments"]["heap_bytes"], Json({100, 131, 48}));
}

TEST(PageHistory, IsAbsentWhereNobodyWatched) {
  Profile profile = WithHistory();
  profile.timeline = {};
  profile.moments = {};
  for (ProfileSite& site : profile.sites) site.history.clear();
  const Json data = Json::parse(PageData(profile, {}));
  for (const char* name : {"timeline", "moments", "history"}) EXPECT_FALSE(data.contains(name));
}

TEST(PageHistory, SaysWhichMomentStandsForThePeak) {
  Profile profile = WithHistory();
  profile.chosen = ChosenMoment{MomentSelector::Kind::kTime, 32, true, "32 ms", ""};
  const Json data = Json::parse(PageData(profile, {}));
  EXPECT_EQ(data["selected"], Json({{"time_ms", 32}, {"text", "live at 32 ms"}}));
}

}  // namespace
}  // namespace memprof
