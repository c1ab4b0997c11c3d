#include "cli/basics/ascii_text.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <utility>
#include <vector>

namespace memprof {
namespace {

TEST(AsciiText, HasAColumnForEachCharacter) {
  EXPECT_EQ(AsciiText("load ← main"), "load < main");
  EXPECT_EQ(AsciiText("std::vec…back  ≈ 3 ± 1"), "std::vec.back  ~ 3 ~ 1");
  EXPECT_EQ(AsciiText("└─ Größe"), "+- Gr??e");
  EXPECT_EQ(AsciiText("plain\n"), "plain\n");
  EXPECT_EQ(AsciiText("\xff\x80"
                      "a"),
            "?a");  // no UTF-8
  EXPECT_EQ(AsciiText(""), "");
}

TEST(AsciiText, IsForTheLocalesWithoutOtherCharacters) {
  const auto with = [](const std::vector<std::pair<const char*, const char*>>& set) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(name);
    for (const auto& [name, value] : set) setenv(name, value, 1);
    return LocaleIsAscii();
  };
  EXPECT_FALSE(with({}));
  EXPECT_TRUE(with({{"LC_ALL", "C"}}));
  EXPECT_TRUE(with({{"LANG", "POSIX"}}));
  EXPECT_FALSE(with({{"LC_ALL", "C.UTF-8"}}));
  EXPECT_FALSE(with({{"LC_ALL", "de_DE.UTF-8"}, {"LANG", "C"}}));
  EXPECT_TRUE(with({{"LC_ALL", ""}, {"LC_CTYPE", "C"}, {"LANG", "en_US.UTF-8"}}));
  with({});
}

}  // namespace
}  // namespace memprof
