#include "cli/reports/rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

std::string Names(const std::vector<LocationRow>& rows) {
  std::string names;
  for (const LocationRow& row : rows) {
    names += row.function + ":" + std::to_string(row.line) + " ";
  }
  return names;
}

TEST(Rows, SumToTheTotalsInEveryFigure) {
  const Profile profile = ReportProfile();
  for (const bool show_runtime : {false, true}) {
    Count peak, leaked, total;
    for (const LocationRow& row : LocationRows(profile, {Figure::kPeak, show_runtime})) {
      peak += row.peak;
      leaked += row.leaked;
      total += row.total;
    }
    EXPECT_EQ(peak, (Count{2000, 18}));
    EXPECT_EQ(leaked, (Count{900, 7}));
    EXPECT_EQ(total, (Count{13100, 66}));
  }
}

TEST(Rows, NameTheFunctionThatCalledThePlumbing) {
  const auto rows = LocationRows(ReportProfile(), {Figure::kLeaked});
  EXPECT_EQ(rows[0].function, "Load");
  EXPECT_EQ(rows[0].file, "/src/demo/load.cc");
  EXPECT_EQ(rows[0].line, 21u);
  EXPECT_EQ(rows[0].leaked, (Count{400, 4}));
}

TEST(Rows, AreSortedByTheFigureThatIsShown) {
  const Profile profile = ReportProfile();
  const std::string runtime = std::string(kRuntimeRow) + ":0 ";
  EXPECT_EQ(Names(LocationRows(profile, {Figure::kPeak})),
            "Load:20 Load:21 main:12 " + runtime + "main:13 ");
  EXPECT_EQ(Names(LocationRows(profile, {Figure::kLeaked})),
            "Load:21 main:12 " + runtime + "Load:20 main:13 ");
  EXPECT_EQ(Names(LocationRows(profile, {Figure::kPeak, false, SortKey::kAllocations})),
            "Load:20 Load:21 " + runtime + "main:12 main:13 ");
  EXPECT_EQ(Names(LocationRows(profile, {Figure::kPeak, false, SortKey::kTotal})),
            "main:13 Load:20 Load:21 main:12 " + runtime);
  EXPECT_EQ(Names(LocationRows(profile, {Figure::kPeak, false, SortKey::kFunction})),
            "Load:20 Load:21 " + runtime + "main:12 main:13 ");
}

TEST(Rows, OpenTheRuntimesRowByReason) {
  const auto rows = LocationRows(ReportProfile(), {Figure::kPeak, true});
  EXPECT_EQ(rows[3].function, "[runtime: kept so]");
  EXPECT_EQ(rows[3].peak, (Count{200, 2}));
}

TEST(Rows, SumUpStacksThatMeetInOnePlaceAndKeepTheHeaviest) {
  ProfileBuilder b("demo");
  const TestFrame here = {"f", "f.cc", 1};
  b.Site({{"a", "a.cc", 1}, here}, {{10, 1}, {}, {10, 1}});
  b.Site({{"b", "b.cc", 1}, here}, {{30, 2}, {}, {30, 2}});
  b.Site({{"c", "c.cc", 1}, here}, {{20, 3}, {}, {20, 3}});
  const auto rows = LocationRows(b.profile(), {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].peak, (Count{60, 6}));
  EXPECT_EQ(rows[0].stacks, 3u);
  EXPECT_EQ(rows[0].heaviest_node, b.profile().sites[1].node);
}

TEST(Rows, GiveASiteWithoutAStackAName) {
  ProfileBuilder b("demo");
  b.Site({}, {{10, 1}, {}, {10, 1}});
  EXPECT_EQ(LocationRows(b.profile(), {})[0].function, "[no stack]");
}

TEST(Rows, RefuseAnUnknownSortKey) {
  EXPECT_EQ(ParseSortKey("allocations"), SortKey::kAllocations);
  ASSERT_FALSE(ParseSortKey("size"));
  EXPECT_EQ(ParseSortKey("size").error().kind, ErrorKind::kUsage);
}

TEST(Rows, NameAPlaceByItsFileElseByItsModule) {
  EXPECT_EQ(PlaceOf("f", "/a/b/c/d/e.cc", 7, "/bin/x"), "e.cc:7");
  EXPECT_EQ(PlaceOf("f", "/a/b/c/d/e.cc", 0, "/bin/x"), "e.cc");
  EXPECT_EQ(PlaceOf("f", "/a/b/c/d/e.cc", 7, "/bin/x", 2), "c/d/e.cc:7");
  EXPECT_EQ(PlaceOf("f", "/a/e.cc", 7, "/bin/x", 3), "/a/e.cc:7");
  EXPECT_EQ(PlaceOf("f", "e.cc", 7, "", 3), "e.cc:7");
  EXPECT_EQ(PlaceOf("f", "/e.cc", 7, ""), "e.cc:7");
  EXPECT_EQ(PlaceOf("f", "", 7, "/usr/lib/libx.so", 3), "libx.so");
  EXPECT_EQ(PlaceOf("f", "", 0, ""), "");
  EXPECT_EQ(PlaceOf("libx.so+0x12", "", 0, "/usr/lib/libx.so"), "");
  EXPECT_EQ(PlaceOf("libx.so.copy", "", 0, "/usr/lib/libx.so"), "libx.so");
}

TEST(Rows, HaveCallersThatSumToThem) {
  const auto rows = LocationRows(ReportProfile(), {.callers = true});
  for (const LocationRow& row : rows) {
    if (row.function == kRuntimeRow) {
      EXPECT_TRUE(row.callers.empty());
      continue;
    }
    Count peak;
    for (const CallerRow& caller : row.callers) peak += caller.peak;
    EXPECT_EQ(peak, row.peak) << row.function;
  }
  EXPECT_EQ(rows[0].function, "Load");
  ASSERT_EQ(rows[0].callers.size(), 1u);
  EXPECT_EQ(rows[0].callers[0].function, "main");
  EXPECT_EQ(rows[0].callers[0].line, 10u);
  const auto main = std::find_if(rows.begin(), rows.end(),
                                 [](const LocationRow& row) { return row.function == "main"; });
  EXPECT_EQ(main->callers[0].function, "[no caller]");
}

}  // namespace
}  // namespace memprof
