#include "core/profile/symbol_key.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(SymbolKey, LeavesOutWhatACompilerNumbersAnew) {
  EXPECT_EQ(FunctionKey("parse.part.0", "/x"), "parse");
  EXPECT_EQ(FunctionKey("parse.constprop.3.isra.0", "/x"), "parse");
  EXPECT_EQ(FunctionKey("parse.cold", "/x"), "parse");
  EXPECT_EQ(FunctionKey("parse.part.1.cold", "/x"), "parse");
  EXPECT_EQ(FunctionKey("ns::f(int) [clone .constprop.0] [clone .isra.1]", "/x"), "ns::f(int)");
}

TEST(SymbolKey, KeepsDotsOfTheProgramsOwn) {
  EXPECT_EQ(FunctionKey("main.run", "/x"), "main.run");
  EXPECT_EQ(FunctionKey("f.part.two", "/x"), "f.part.two");
  EXPECT_EQ(FunctionKey("f.colder", "/x"), "f.colder");
  EXPECT_EQ(FunctionKey("f.part.", "/x"), "f.part.");
  EXPECT_EQ(FunctionKey(".cold", "/x"), ".cold");
}

TEST(SymbolKey, HasNoAddressOfWhatHasNoName) {
  EXPECT_EQ(FunctionKey("libx.so.1+0x12", "/lib/libx.so.1"), kNoSymbol);
  EXPECT_EQ(FunctionKey("0x7f0000001234", ""), kNoSymbol);
  EXPECT_EQ(FunctionKey("[truncated]", ""), "[truncated]");
  EXPECT_EQ(FunctionKey("libx.so.1+0x12", "/lib/liby.so.1"), "libx.so.1+0x12");
}

TEST(SymbolKey, NamesModulesWithoutFolderAndVersion) {
  EXPECT_EQ(ModuleKey("/usr/lib/libx.so.1.2.3", "demo"), "libx.so");
  EXPECT_EQ(ModuleKey("/opt/other/libx.so", "demo"), "libx.so");
  EXPECT_EQ(ModuleKey("/opt/demo-2", "demo-2"), kProgramModule);
  EXPECT_EQ(ModuleKey("", "demo"), "");
}

}  // namespace
}  // namespace memprof
