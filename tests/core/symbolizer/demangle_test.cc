#include "core/symbolizer/demangle.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

TEST(Demangle, WritesNamesOfCxxAsTheirAuthorsDid) {
  EXPECT_EQ(Demangle("_ZN4shop6MiddleEi"), "shop::Middle(int)");
  EXPECT_EQ(Demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(Demangle("_ZN12_GLOBAL__N_11fEv"), "(anonymous namespace)::f()");
  EXPECT_EQ(Demangle("_ZZ4mainENKUlvE_clEv"), "main::{lambda()#1}::operator()() const");
  EXPECT_EQ(Demangle("_Z1fv.cold"), "f() [clone .cold]");
}

TEST(Demangle, KnowsLambdasOfTemplatesInTemplates) {
  EXPECT_NE(
      Demangle("_ZSt13__invoke_implIvZ17make_named_threadIZN4ceph5async15io_context_pool5startEs"
               "EUlvE_JEESt6threadSt17basic_string_viewIcSt11char_traitsIcEEOT_DpOT0_EUlSB_SE_E_"
               "JS4_EESA_St14__invoke_otherOT0_DpOT1_")
          .find("ceph::async::io_context_pool::start(short)::{lambda()#1}"),
      std::string::npos);
}

// Each argument is a template of two of the one before: 60 have 2^60 names.
TEST(Demangle, LeavesNamesThatWouldNeverEnd) {
  std::string bomb = "_Z1f1AIiiES_IS0_S0_E";
  for (int i = 1; i < 60; ++i) {
    const char* digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string last = "S";
    if (i >= 36) last += digits[i / 36];
    last += digits[i % 36];
    last += "_";
    bomb += "S_I" + last + last + "E";
  }
  EXPECT_EQ(Demangle(bomb.c_str()), bomb);
}

TEST(Demangle, WritesNamesOfRustWithoutTheirHash) {
  EXPECT_EQ(Demangle("_ZN5alloc5alloc8box_free17h0123456789abcdefE"), "alloc::alloc::box_free");
  EXPECT_EQ(Demangle("_RNvCskwGfYPst2Cb_3foo16example_function"), "foo::example_function");
}

TEST(Demangle, GivesWhatIsNotMangledBack) {
  for (const char* name : {"main", "", "_", "_start", "__GI_abort", "_Z", "_ZN", "_R", "_ZQQQ"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

TEST(Demangle, EndsOnHostileNames) {
  const std::string nested = "_Z1f" + std::string(30000, 'P') + "i";
  EXPECT_FALSE(Demangle(nested.c_str()).empty());
  const std::string endless = "_Z" + std::string(1 << 20, 'N');
  EXPECT_EQ(Demangle(endless.c_str()), endless.substr(0, 1 << 16));
}

}  // namespace
}  // namespace memprof
