#include "cli/reports/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/reports/stats_text.h"
#include "cli/web/page.h"
#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

using Json = nlohmann::json;

Profile WithSizes() {
  Profile profile = ReportProfile();
  for (ProfileSite& site : profile.sites) {
    site.kind = AllocatorKind::kMalloc;
    if (site.total.allocations == 50) AddSizes(site.sizes, 7, site.total);
    if (site.total.allocations == 6) AddSizes(site.sizes, 5, site.total);
    AddSizes(profile.sizes, site.sizes);
  }
  profile.sites[0].kind = AllocatorKind::kCalloc;
  return profile;
}

Count Sum(const std::vector<StatisticsRow>& rows) {
  Count sum;
  for (const StatisticsRow& row : rows) sum += row.count;
  return sum;
}

TEST(Statistics, SumToTheTotalInEachTable) {
  const Profile profile = WithSizes();
  const Statistics statistics = StatisticsOf(profile);
  EXPECT_EQ(Sum(statistics.sizes), profile.total);
  EXPECT_EQ(Sum(statistics.kinds), profile.total);
  EXPECT_EQ(Sum(statistics.most_bytes), profile.total);
  EXPECT_EQ(Sum(statistics.most_blocks), profile.total);
  ASSERT_EQ(statistics.sizes.size(), 3u);
  EXPECT_EQ(statistics.sizes[0].name, "16 B to < 32 B");
  EXPECT_TRUE(statistics.sizes[2].is_rest);
  EXPECT_EQ(statistics.kinds[0].name, "malloc");
  EXPECT_EQ(statistics.kinds[1].name, "calloc");
}

// The page shows the figures of `memprof stats`, so none may be in one of them alone.
TEST(Statistics, AreTheSameOnThePageAndInTheText) {
  const Profile profile = WithSizes();
  PageOptions options;
  options.statistics = StatisticsOf(profile);
  const Json page = Json::parse(PageData(profile, options))["statistics"];
  const std::string text = StatsText(profile, {});
  EXPECT_GT(page["facts"].size(), 10u);
  for (const Json& fact : page["facts"]) {
    EXPECT_NE(text.find(fact[1].get<std::string>()), std::string::npos) << fact;
  }
  size_t rows = 0;
  for (const char* table : {"sizes", "kinds", "most_bytes", "most_blocks"}) {
    for (const Json& row : page[table]) {
      EXPECT_NE(text.find(row["name"].get<std::string>()), std::string::npos) << row;
      ++rows;
    }
  }
  // Facts, five headings with blank lines, each table's head and total.
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')),
            page["facts"].size() + rows + 4 * 4);
}

}  // namespace
}  // namespace memprof
