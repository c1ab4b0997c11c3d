#include "cli/terminal/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace memprof {
namespace {

TextTable::Row RowOf(std::vector<std::string> figures, std::string function, std::string place = {},
                     std::string module = {}) {
  TextTable::Row row;
  row.figures = std::move(figures);
  row.function = std::move(function);
  row.place = std::move(place);
  row.module = std::move(module);
  return row;
}

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TextTable, AlignsFiguresToTheRightAndNamesToTheLeft) {
  TextTable table({"change", "blocks"}, {100, false});
  table.Add(RowOf({"+1.0 KiB", "+3"}, "Load()", "load.cc:12"));
  table.Add(RowOf({"0 B", "0"}, "Unload(int)", "a.cc:7"));
  table.Add(RowOf({"+1.0 KiB", "3"}, "total"));
  EXPECT_EQ(table.Text(),
            "  change  blocks  function     place\n"
            "+1.0 KiB      +3  Load()       load.cc:12\n"
            "     0 B       0  Unload(int)  a.cc:7\n"
            "+1.0 KiB       3  total\n");
}

TEST(TextTable, CountsACharacterOfSeveralBytesAsOneColumn) {
  TextTable table({"≈ live"}, {100, false});
  table.Add(RowOf({"1.0 ± 0.5"}, "größe", "ü.cc:1"));
  table.Add(RowOf({"22"}, "g", "a.cc:1"));
  EXPECT_EQ(table.Text(),
            "   ≈ live  function  place\n"
            "1.0 ± 0.5  größe     ü.cc:1\n"
            "       22  g         a.cc:1\n");
}

TEST(TextTable, LetsANameAloneExtendIntoTheNextColumns) {
  TextTable table({"bytes"}, {100, false});
  table.Add(RowOf({"1"}, "f", "a.cc:1"));
  table.Add(RowOf({"2"}, "unchanged (1,234,567 places)"));
  EXPECT_EQ(Lines(table.Text())[1], "    1  f         a.cc:1");
  EXPECT_EQ(Lines(table.Text())[2], "    2  unchanged (1,234,567 places)");
}

TEST(TextTable, ShortensAFunctionsMiddleAndAPlacesFront) {
  TextTable table({"bytes"}, {40, false});
  table.Add(RowOf({"1"}, "std::vector<int>::push_back(int&&)", "/usr/include/c++/12/vector:99"));
  const std::string line = Lines(table.Text())[1];
  EXPECT_EQ(Columns(line), 40u);
  EXPECT_EQ(line, "    1  std::vect…nt&&)  …++/12/vector:99");
}

TEST(TextTable, IsAsWideAsTheStyleAtMostUnlessNamesHaveLessThan24Columns) {
  for (size_t width = 40; width <= 200; ++width) {
    TextTable table({"figure", "share"}, {width, false}, {"function", "place", "module"});
    table.Add(RowOf({"123 KiB", "100 %"}, std::string(150, 'f'), std::string(150, 'p'),
                    std::string(150, 'm')));
    table.Add(RowOf({"1 B", "1 %"}, std::string(300, 'o')));
    table.row(0).below = std::string(300, 'c');
    for (const std::string& line : Lines(table.Text())) EXPECT_LE(Columns(line), width) << line;
  }
  TextTable narrow({std::string(30, 'h')}, {40, false});
  EXPECT_EQ(narrow.Room(), 24u);
}

TEST(TextTable, LeavesOutFiguresAtTheRightForNamesOf24Columns) {
  const auto heading = [](size_t width) {
    TextTable table({"bytes", "share", "blocks"}, {width, false});
    table.Add(RowOf({"1.0 MiB", "99.9%", "12,345"}, std::string(100, 'f')));
    const std::vector<std::string> lines = Lines(table.Text());
    EXPECT_EQ(Columns(lines[1]), std::max<size_t>(width, 33)) << lines[1];
    return lines[0].substr(0, lines[0].find("  function"));
  };
  EXPECT_EQ(heading(48), "  bytes  share  blocks");
  EXPECT_EQ(heading(47), "  bytes  share");
  EXPECT_EQ(heading(40), "  bytes  share");
  EXPECT_EQ(heading(39), "  bytes");
  EXPECT_EQ(heading(20), "  bytes");
}

TEST(TextTable, LeavesTheModulesOutIfThereIsNoRoomForThem) {
  for (const auto& [width, modules] : {std::pair<size_t, bool>{86, false}, {87, true}}) {
    TextTable table({"bytes"}, {width, false}, {"function", "place", "module"});
    table.Add(RowOf({"1"}, "f", "a.cc:1", "libx.so"));
    EXPECT_EQ(table.Text().find("libx.so") != std::string::npos, modules) << width;
    EXPECT_EQ(table.Text().find("module") != std::string::npos, modules) << width;
  }
}

TEST(TextTable, HasALineBelowARowWithinTheRoomOfItsNames) {
  TextTable table({"bytes"}, {40, false});
  table.Add(RowOf({"1"}, "f", "a.cc:1"));
  table.row(0).below = "← caller ← main";
  EXPECT_EQ(Lines(table.Text())[2], std::string(table.Indent() + 2, ' ') + "← caller ← main");
  table.row(0).below = std::string(100, 'x');
  EXPECT_EQ(Columns(Lines(table.Text())[2]), 40u);
}

TEST(TextTable, ColoursTheFirstFigureByItsSignAndNoOther) {
  TextTable table({"a", "b"}, {100, true});
  TextTable::Row row = RowOf({"1", "2"}, "f");
  row.sign = 1;
  table.Add(row);
  row.sign = -1;
  table.Add(row);
  const auto lines = Lines(table.Text());
  EXPECT_EQ(lines[1], "\x1b[31m1  \x1b[0m2  \x1b[1mf\x1b[0m");
  EXPECT_EQ(lines[2], "\x1b[32m1  \x1b[0m2  \x1b[1mf\x1b[0m");
}

TEST(TextTable, PrintsATextAsItIsGiven) {
  TextTable table({{"bytes", 10, 1}, {"share", 6}}, "function", {60, false});
  const std::string text(100, 'x');
  table.Add(RowOf({"1", "2 %"}, text));
  EXPECT_EQ(table.Text(), "     bytes  share  function\n         1    2 %  " + text + "\n");
  EXPECT_EQ(table.Headings() + "\n" + table.Figures({"1", "2 %"}) + text + "\n", table.Text());
}

TEST(TextTable, LetsAFigureThatIsWiderThanItsFixedColumnMoveItsLineOnly) {
  TextTable table({{"bytes", 5, 1}, {"share", 6}}, "function", {40, false});
  table.Add(RowOf({"1,234,567", "2 %"}, "f"));
  table.Add(RowOf({"1", "2 %"}, "g"));
  EXPECT_EQ(table.Text(),
            "bytes  share  function\n"
            "1,234,567    2 %  f\n"
            "    1    2 %  g\n");
}

TEST(TextTable, EndsNoLineInSpaces) {
  TextTable bars({{"size"}, {"blocks", 8}}, "", {40, false});
  bars.Add(RowOf({"1 B", "1"}, "███"));
  bars.Add(RowOf({"2 B", "0"}, ""));
  TextTable names({"bytes"}, {200, false}, {"process", {}, "module"});
  names.Add(RowOf({"1"}, "f"));
  names.Add(RowOf({"1"}, ""));
  for (const std::string& line : Lines(bars.Text() + names.Text())) {
    EXPECT_NE(line.back(), ' ') << line;
  }
}

}  // namespace
}  // namespace memprof
