#include "cli/reports/difference/profile_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/reports/difference/diff_data.h"
#include "cli/reports/difference/diff_text.h"
#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

// The build of ReportProfile a week later: other lines, files, folders and a library's version.
Profile LaterProfile() {
  ProfileBuilder b("demo");
  const TestFrame start = {"__libc_start_main", "", 0, "/usr/lib/libc.so.6.1"};
  const std::string own = "/srv/new/demo";
  b.Site({start, {"main", "/w/main.cc", 90, own}, {"Load", "/w/loader.cc", 77, own}},
         {{1000, 10}, {0, 0}, {5000, 50}});
  b.Site({start,
          {"main", "/w/main.cc", 91, own},
          {"Load.part.0", "/w/loader.cc", 78, own},
          {"std::vector<char>::reserve(unsigned long)", "/usr/include/vector.tcc", 71, own},
          {"operator new(unsigned long)", "", 0, "/usr/lib/libstdc++.so.6.0.30"}},
         {{700, 7}, {600, 6}, {800, 8}});
  b.Site({start, {"main", "/w/main.cc", 92, own}}, {{300, 1}, {300, 1}, {7300, 8}});
  b.Site({start, {"main", "/w/main.cc", 93, own}, {"Fresh", "/w/fresh.cc", 5, own}},
         {{50, 1}, {50, 1}, {50, 1}});
  b.Site({System("_dl_init"), System("call_init")}, {{200, 2}, {200, 2}, {200, 2}, "kept so"});
  return b.profile();
}

const DiffRow* Find(const std::vector<DiffRow>& rows, const std::string& function) {
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const DiffRow& row) { return row.function == function; });
  return at == rows.end() ? nullptr : &*at;
}

TEST(ProfileDiff, FindsRowsByNameWhateverLineFileAndVersion) {
  for (const DiffBy by : {DiffBy::kSite, DiffBy::kFunction}) {
    const auto rows = DiffRows(ReportProfile(), LaterProfile(), by);
    size_t changed = 0;
    for (const DiffRow& row : rows) changed += row.before.peak != row.after.peak;
    EXPECT_EQ(changed, 2u);
    EXPECT_EQ(rows[0].function, "Load");
    EXPECT_EQ(ChangeOf(rows[0].before.peak, rows[0].after.peak), (Change{200, 2}));
    ASSERT_NE(Find(rows, "Fresh"), nullptr);
    EXPECT_EQ(Find(rows, "Fresh")->before.peak, Count());
    EXPECT_EQ(Find(rows, kRuntimeRow)->after.peak, (Count{200, 2}));
  }
}

TEST(ProfileDiff, SumsToBothTotals) {
  for (const DiffBy by : {DiffBy::kSite, DiffBy::kFunction, DiffBy::kModule}) {
    DiffFigures before, after;
    for (const DiffRow& row : DiffRows(ReportProfile(), LaterProfile(), by)) {
      for (const auto& [sum, side] : {std::pair(&before, &row.before), {&after, &row.after}}) {
        sum->peak += side->peak;
        sum->leaked += side->leaked;
        sum->total += side->total;
      }
    }
    const DiffFigures all_before = FiguresOf(ReportProfile());
    const DiffFigures all_after = FiguresOf(LaterProfile());
    for (const Figure figure : {Figure::kPeak, Figure::kLeaked, Figure::kTotal}) {
      EXPECT_EQ(FigureOf(before, figure), FigureOf(all_before, figure));
      EXPECT_EQ(FigureOf(after, figure), FigureOf(all_after, figure));
    }
  }
}

TEST(ProfileDiff, ByModuleNamesTheProgramByItsLaterFile) {
  const auto rows = DiffRows(ReportProfile(), LaterProfile(), DiffBy::kModule);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].module, "/srv/new/demo");
  EXPECT_EQ(ChangeOf(rows[0].before.peak, rows[0].after.peak), (Change{250, 3}));
  EXPECT_EQ(rows[1].function, kRuntimeRow);
}

TEST(ProfileDiff, HasALineOnlyWhereItIsOne) {
  const auto rows = DiffRows(ReportProfile(), LaterProfile(), DiffBy::kFunction);
  EXPECT_EQ(Find(rows, "Load")->line, 0u);  // of two sites
  EXPECT_EQ(Find(rows, "Load")->file, "/w/loader.cc");
  EXPECT_EQ(Find(rows, "main")->line, 92u);
}

TEST(ProfileDiff, SortsByTheFigureAndTheOrderAskedFor) {
  const auto total = DiffRows(ReportProfile(), LaterProfile(), DiffBy::kFunction, Figure::kTotal);
  EXPECT_EQ(total[0].function, "Load");
  const auto names = DiffRows(ReportProfile(), LaterProfile(), DiffBy::kFunction, Figure::kPeak,
                              DiffSort::kFunction);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end(),
                             [](const auto& a, const auto& b) { return a.function < b.function; }));
}

TEST(ProfileDiff, AddsTheVariancesOfEstimates) {
  const Profile estimated = EstimatedProfile();
  const auto rows = DiffRows(estimated, estimated, DiffBy::kFunction);
  double sum = 0;
  for (const DiffRow& row : rows) sum += ChangeVariance(row.before, row.after, Figure::kPeak).bytes;
  EXPECT_NEAR(sum, 2 * estimated.variances.peak.bytes, 1e-6 * sum);
  const auto json =
      nlohmann::json::parse(DiffJson(estimated, estimated, DiffBy::kFunction, rows, {}));
  EXPECT_TRUE(json["difference"]["peak"].contains("standard_error"));
  EXPECT_NE(DiffCsv(estimated, estimated, rows).find(",peak_difference_bytes_standard_error,"),
            std::string::npos);
  const Profile exact = ReportProfile();
  EXPECT_EQ(DiffCsv(exact, exact, DiffRows(exact, exact, DiffBy::kFunction)).find("standard_error"),
            std::string::npos);
}

TEST(DiffText, ShowsSignsAndWhatIsNewOrGone) {
  EXPECT_EQ(FormatBytesChange(2048), "+2.0 KiB");
  EXPECT_EQ(FormatBytesChange(-2048), "-2.0 KiB");
  EXPECT_EQ(FormatBytesChange(0), "0 B");
  EXPECT_EQ(FormatBytesChange(2048, 1024), "+2.0 ± 1.0 KiB");
  EXPECT_EQ(FormatCountChange(-1234), "-1,234");
  EXPECT_EQ(FormatRelativeChange(200, 250), "+25.0%");
  EXPECT_EQ(FormatRelativeChange(0, 1), "new");
  EXPECT_EQ(FormatRelativeChange(1, 0), "gone");
  EXPECT_EQ(FormatRelativeChange(0, 0), "unchanged");
}

TEST(DiffText, HasALineForWhatItDoesNotShow) {
  const Profile before = ReportProfile();
  const Profile after = LaterProfile();
  DiffTextOptions options;
  options.by = DiffBy::kFunction;
  options.rows = 1;
  const std::string text = DiffText({"a", &before}, {"b", &after}, options);
  EXPECT_NE(text.find("+50 B      +1      0 B     50 B  others (1 function)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("unchanged (2 functions)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("+250 B      +3  2.0 KiB  2.2 KiB  total\n"), std::string::npos) << text;
}

TEST(DiffText, KeepsControlCharactersFromTheTerminal) {
  ProfileBuilder b("d\x1b[2J");
  b.Site({{"f\x1b[31m\n", "x\x07.cc", 1}}, {{10, 1}, {}, {}});
  const Profile none = ProfileBuilder("demo").profile();
  const std::string text = DiffText({"a\x1b", &none}, {"b", &b.profile()}, {});
  EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_NE(DiffText({"a", &none}, {"b", &b.profile()},
                     {DiffBy::kSite, Figure::kPeak, DiffSort::kBytes, 0, {80, true}})
                .find("\x1b[31m +10 B"),
            std::string::npos);
}

}  // namespace
}  // namespace memprof
