#include "cli/terminal/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace memprof {
namespace {

TEST(Terminal, MakesEveryControlCharacterVisible) {
  EXPECT_EQ(Printable("a\x1b[31mb\x7f\r\n\t"), "a?[31mb????");
  EXPECT_EQ(Printable(std::string_view("\0x", 2)), "?x");
  EXPECT_EQ(Printable("a\u061cb\u202ec"), "a?b?c");
  EXPECT_EQ(WithEscapedControls("{\"a\u009bb\": \"\u202e\u061c\x7f \u00fc\u20ac\U0001f600\n\"}"),
            "{\"a\\u009bb\": \"\\u202e\\u061c\\u007f \u00fc\u20ac\U0001f600\n\"}");
  EXPECT_EQ(Printable("\xc2\x9b"), "?");         // CSI of C1
  EXPECT_EQ(Printable("\xc2\xa0"), "\xc2\xa0");  // a space
  EXPECT_EQ(Printable("\u202e\u2066\u200f\u2028"), "????");
  EXPECT_EQ(Printable("größe 大 \U0001f600 ←"), "größe 大 \U0001f600 ←");
}

TEST(Terminal, ReplacesBrokenUtf8ByteByByte) {
  EXPECT_EQ(Printable("\xff\xfe"), "??");
  EXPECT_EQ(Printable("\xe2\x82"), "??");       // cut short
  EXPECT_EQ(Printable("\xc0\x9b"), "??");       // an overlong escape
  EXPECT_EQ(Printable("\xe0\x80\x9b"), "???");  // another
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");  // half of a surrogate pair
  EXPECT_EQ(Printable("\xe2\x28\xa1"), "?(?");
}

TEST(Terminal, LeavesTheMiddleOrTheFrontOut) {
  EXPECT_EQ(Shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(Shortened("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(Shortened("äöüßäöüßäö", 6), "äöü…äö");
  EXPECT_EQ(ShortenedFront("abcdefghij", 6), "…fghij");
  EXPECT_EQ(ShortenedFront("äöüßäöüßäö", 6), "…öüßäö");
  for (size_t columns = 0; columns < 12; ++columns) {
    EXPECT_LE(Columns(Shortened("äbcdefghijk", columns)), columns);
    EXPECT_LE(Columns(ShortenedFront("äbcdefghijk", columns)), columns);
  }
}

TEST(Terminal, LeavesWholeCallersOut) {
  const std::string chain = "← Index::Add(char const*) ← Load(Index&) ← Open ← main";
  EXPECT_EQ(ShortenedCallers(chain, 80), chain);
  EXPECT_EQ(ShortenedCallers(chain, 52), "← Index::Add(char const*) ← Load(Index&) ← … ← main");
  EXPECT_EQ(ShortenedCallers(chain, 40), "← Index::Add(char const*) ← … ← main");
  EXPECT_EQ(ShortenedCallers(chain, 30), "← Index::Ad…const*) ← … ← main");
  EXPECT_EQ(ShortenedCallers("others (3 stacks)", 9), "other…ks)");
  for (size_t columns = 1; columns < 60; ++columns) {
    EXPECT_LE(Columns(ShortenedCallers(chain, columns)), columns);
  }
}

TEST(Terminal, PadsByColumnsNotBytes) {
  EXPECT_EQ(PaddedLeft("ä", 3), "  ä");
  EXPECT_EQ(PaddedRight("ä", 3), "ä  ");
  EXPECT_EQ(PaddedRight("abcd", 3), "abcd");
}

TEST(Terminal, WrapsAtSpacesBelowTheIndent) {
  EXPECT_EQ(Wrapped("one two three", 2, 9), "one two\n  three\n");
  EXPECT_EQ(Wrapped("one", 2, 80), "one\n");
  EXPECT_EQ(Wrapped("averylongword b", 2, 9), "averylongword\n  b\n");
  EXPECT_EQ(Wrapped("", 2, 9), "\n");
}

TEST(Terminal, TakesAFilesWidthFromColumns) {
  setenv("COLUMNS", "123", 1);
  EXPECT_EQ(StyleOfFile().width, 123u);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(StyleOfFile().width, 40u);
  setenv("COLUMNS", "many", 1);
  EXPECT_EQ(StyleOfFile().width, 100u);
  unsetenv("COLUMNS");
  EXPECT_EQ(StyleOfFile().width, 100u);
  EXPECT_FALSE(StyleOfFile().colour);
}

}  // namespace
}  // namespace memprof
