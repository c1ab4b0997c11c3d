#include "cli/reports/row_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

std::string Text(const Profile& profile, const RowTextOptions& options) {
  return RowText(profile, LocationRows(profile, {options.figure, false, options.sort}), options);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(RowText, ShowsRowsThenTheRuntimeThenOthersThenTheTotal) {
  EXPECT_EQ(Text(ReportProfile(), {.rows = 2, .style = {80, false}}),
            "   peak   share  blocks     total  function  place\n"
            " 1000 B   50.0%      10   4.9 KiB  Load      load.cc:20\n"
            "  500 B   25.0%       5     600 B  Load      load.cc:21\n"
            "  200 B   10.0%       2     200 B  [runtime, kept by design]\n"
            "  300 B   15.0%       1   7.1 KiB  others (2 places)\n"
            "2.0 KiB  100.0%      18  12.8 KiB  total\n");
}

TEST(RowText, GivesNamesWithoutAPlaceTheRoomOfThePlaces) {
  ProfileBuilder b("demo");
  const std::string name = "libdemo_without_symbols.so.0+0x5f03";
  b.Site({{name, "", 0, "/usr/lib/libdemo_without_symbols.so.0"}}, {{1000, 10}, {}, {1000, 10}});
  EXPECT_EQ(Text(b.profile(), {.style = {80, false}}),
            "  peak   share  blocks   total  function  place\n"
            "1000 B  100.0%      10  1000 B  " +
                name +
                "\n"
                "1000 B  100.0%      10  1000 B  total\n");
}

TEST(RowText, HasTheStandardErrorOfEveryRowOfEstimates) {
  EXPECT_EQ(Text(EstimatedProfile(), {.rows = 2, .style = {80, false}}),
            "       ≈ peak   share  ≈ blocks   ≈ total  function  place\n"
            " 1000 ± 161 B   50.0%        10   4.9 KiB  Load      load.cc:20\n"
            "  500 ± 114 B   25.0%         5     600 B  Load      load.cc:21\n"
            "   200 ± 72 B   10.0%         2     200 B  [runtime, kept by design]\n"
            "   300 ± 29 B   15.0%         1   7.1 KiB  others (2 places)\n"
            "2.0 ± 0.2 KiB  100.0%        18  12.8 KiB  total\n");
}

TEST(RowText, NamesTheLeakFirstAndSaysWhatWasFreed) {
  EXPECT_EQ(Text(ReportProfile(), {.figure = Figure::kLeaked, .style = {80, false}}),
            "leaked   share  blocks     total  function  place\n"
            " 400 B   44.4%       4     600 B  Load      load.cc:21\n"
            " 300 B   33.3%       1     300 B  main      main.cc:12\n"
            " 200 B   22.2%       2     200 B  [runtime, kept by design]\n"
            "   0 B    0.0%       0  11.7 KiB  others (2 places, all freed)\n"
            " 900 B  100.0%       7  12.8 KiB  total\n");
}

TEST(RowText, KeepsRowsWithoutTheFigureWhereTheyAreSortedByAnotherOne) {
  const auto lines = Lines(Text(ReportProfile(), {.rows = 1, .sort = SortKey::kTotal}));
  EXPECT_NE(lines[1].find("main.cc:13"), std::string::npos);
}

TEST(RowText, ShowsTheCallersOfThePlaceWithoutThePlumbing) {
  const auto lines = Lines(Text(ReportProfile(), {.rows = 2, .stacks = true}));
  EXPECT_EQ(lines[2], std::string(lines[1].find("Load") + 2, ' ') + "← main");
}

TEST(RowText, NeverExceedsTheWidth) {
  ProfileBuilder b("demo");
  const std::string name(300, 'x');
  std::vector<TestFrame> stack;
  for (int i = 0; i < 40; ++i) {
    stack.push_back({name + std::to_string(i), "/s/" + name + ".cc", 12345, "/lib/" + name});
  }
  b.Site(stack, {{123456789, 1234567}, {}, {~0ull / 2, 1}});
  for (const size_t width : {80u, 100u, 200u}) {
    for (const bool modules : {false, true}) {
      const RowTextOptions options = {.stacks = true, .modules = modules, .style = {width, false}};
      for (const std::string& line : Lines(Text(b.profile(), options))) {
        EXPECT_LE(Columns(line), width) << line;
      }
    }
  }
}

TEST(RowText, ShowsModulesWhereThereIsRoom) {
  const RowTextOptions wide = {.modules = true, .style = {200, false}};
  const auto lines = Lines(Text(ReportProfile(), wide));
  EXPECT_TRUE(lines[0].ends_with("module")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with("/src/demo/load.cc:20  demo")) << lines[1];
  const RowTextOptions narrow = {.modules = true, .style = {80, false}};
  EXPECT_TRUE(Lines(Text(ReportProfile(), narrow))[0].ends_with("place"));
}

TEST(RowText, LetsNoNameDriveTheTerminal) {
  ProfileBuilder b("demo");
  b.Site({{"f\x1b]0;owned\x07", "a\nb.cc", 1, "/lib/\x1b[2J"}}, {{1, 1}, {}, {1, 1}});
  const std::string text =
      Text(b.profile(), {.stacks = true, .modules = true, .style = {200, false}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(Lines(text).size(), 3u);
}

TEST(RowText, OfNothingIsATotalOfNothing) {
  ProfileBuilder b("demo");
  EXPECT_EQ(Text(b.profile(), {.style = {80, false}}),
            "peak  share  blocks  total  function  place\n"
            " 0 B      -       0    0 B  total\n");
}

}  // namespace
}  // namespace memprof
