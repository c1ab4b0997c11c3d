#include "core/profile/runtime_kept.h"

#include <gtest/gtest.h>

#include <vector>

namespace memprof {
namespace {

constexpr char kLibc[] = "/lib/x86_64-linux-gnu/libc.so.6";
constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";
constexpr char kLibstdcxx[] = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30";
constexpr char kDemo[] = "/usr/bin/demo";

// Frames innermost first.
bool IsKept(const std::vector<RuntimeFrame>& frames, Count total = {100, 1}) {
  SnapshotSite site;
  site.total = total;
  return WhyKeptByRuntime(frames, site) != nullptr;
}

TEST(RuntimeKept, KnowsTheEmergencyPoolBySizeAndCaller) {
  const std::vector<RuntimeFrame> pool = {{"libstdc++.so.6+0xa57b9", kLibstdcxx},
                                          {"call_init", kLoader}};
  EXPECT_TRUE(IsKept(pool, {72704, 1}));
  EXPECT_FALSE(IsKept(pool, {72705, 1}));
  EXPECT_TRUE(IsKept(pool, {73728, 1}));  // since GCC 13
  // A merge has one of each process.
  EXPECT_TRUE(IsKept(pool, {3 * 72704, 3}));
  EXPECT_FALSE(IsKept(pool, {2 * 72704, 1}));
  EXPECT_FALSE(IsKept(pool, {72704, 2}));
  // The program asks for as much through libstdc++.
  EXPECT_FALSE(IsKept({{"operator new", kLibstdcxx}, {"Load", kDemo}}, {72704, 1}));
}

TEST(RuntimeKept, KnowsTheEmergencyPoolOfALibstdcxxWithinTheExecutable) {
  EXPECT_TRUE(IsKept({{"_GLOBAL__sub_I_eh_alloc.cc", kDemo}, {"call_init", kLibc}}, {72704, 1}));
  EXPECT_TRUE(IsKept({{"demo+0x2345", kDemo}, {"__libc_start_main", kLibc}}, {73728, 1}));
  EXPECT_FALSE(IsKept({{"_GLOBAL__sub_I_table", kDemo}, {"call_init", kLibc}}, {72704, 1}));
  EXPECT_FALSE(IsKept({{"demo+0x2345", kDemo}, {"__libc_start_main", kLibc}}, {72705, 1}));
  EXPECT_FALSE(IsKept({{"demo+0x2345", kDemo}, {"main", kDemo}}, {72704, 1}));
}

TEST(RuntimeKept, TakesACallThatAnAuditLibraryWatchesForTheCallers) {
  EXPECT_FALSE(IsKept({{"ld-linux-x86-64.so.2+0x15a40", kLoader}, {"main", kDemo}}));
  EXPECT_TRUE(IsKept({{"_dl_runtime_profile", kLoader},
                      {"libstdc++.so.6+0xa57b9", kLibstdcxx},
                      {"call_init", kLoader}},
                     {72704, 1}));
  EXPECT_TRUE(
      IsKept({{"allocate_dtv_entry", kLoader}, {"__tls_get_addr", kLoader}, {"Work", kDemo}}));
}

TEST(RuntimeKept, KnowsASampledEmergencyPoolByItsWeight) {
  const std::vector<RuntimeFrame> pool = {{"libstdc++.so.6+0xa57b9", kLibstdcxx},
                                          {"call_init", kLoader}};
  SnapshotSite site;
  // 1 in 7.72: 72704 bytes stand for 561,473.
  site.total = {561'473, 8};
  EXPECT_NE(WhyKeptByRuntime(pool, site, 512 << 10), nullptr);
  EXPECT_EQ(WhyKeptByRuntime(pool, site), nullptr);
  site.total = {561'473 - 2, 8};
  EXPECT_EQ(WhyKeptByRuntime(pool, site, 512 << 10), nullptr);
  site.total = {2 * 561'473, 15};
  EXPECT_NE(WhyKeptByRuntime(pool, site, 512 << 10), nullptr);
}

TEST(RuntimeKept, KnowsTheBuffersOfStreamsWithAndWithoutDebugInfo) {
  EXPECT_TRUE(IsKept({{"_IO_file_doallocate", kLibc}, {"puts", kLibc}, {"main", kDemo}}));
  EXPECT_TRUE(IsKept({{"__GI__IO_file_doallocate", kLibc}, {"main", kDemo}}));
  EXPECT_FALSE(IsKept({{"_IO_file_doallocate", kDemo}}));
}

TEST(RuntimeKept, TakesTheLoadersOwnBlocksOnly) {
  EXPECT_TRUE(IsKept({{"_dl_allocate_tls", kLoader}, {"pthread_create", kLibc}, {"main", kDemo}}));
  EXPECT_TRUE(IsKept({{"ld-linux-x86-64.so.2+0x1234", kLoader}}));
  EXPECT_TRUE(IsKept({{"_dl_new_object", "/opt/bundle/lib/ld-2.31.so"}}));
  EXPECT_FALSE(IsKept({{"Load", "/usr/bin/ld-linux"}}));
  EXPECT_FALSE(IsKept({{"Load", "/usr/bin/ld-new"}}));
  // A constructor of the program, which the loader calls.
  EXPECT_FALSE(IsKept({{"Init", kDemo}, {"call_init", kLoader}}));
}

TEST(RuntimeKept, KnowsLibcsCachesByHowLibcWasEntered) {
  EXPECT_TRUE(IsKept({{"libc.so.6+0x2f", kLibc}, {"setlocale", kLibc}, {"main", kDemo}}));
  EXPECT_TRUE(IsKept({{"strdup", kLibc}, {"__GI_setlocale", kLibc}, {"main", kDemo}}));
  EXPECT_TRUE(IsKept({{"getpwuid", kLibc}, {"main", kDemo}}));
}

TEST(RuntimeKept, HidesNoBlockThatLibcGivesToItsCaller) {
  for (const char* function :
       {"strdup", "getline", "fopen", "fopen64", "open_memstream", "asprintf", "scandir",
        "newlocale", "getaddrinfo", "setenv", "opendir", "realpath", "regcomp", "iconv_open"}) {
    EXPECT_FALSE(IsKept({{function, kLibc}, {"main", kDemo}})) << function;
  }
}

TEST(RuntimeKept, HidesNoBlockOfTheProgramBelowAFunctionOfLibc) {
  EXPECT_FALSE(IsKept({{"OnLocale", kDemo}, {"setlocale", kLibc}, {"main", kDemo}}));
  EXPECT_FALSE(IsKept({{"strdup", kLibc}, {"OnLocale", kDemo}, {"setlocale", kLibc}}));
  // A function of that name, but not libc's.
  EXPECT_FALSE(IsKept({{"setlocale", kDemo}, {"main", kDemo}}));
  EXPECT_FALSE(IsKept({{"setlocale", "/usr/lib/libcairo.so.2"}, {"main", kDemo}}));
}

TEST(RuntimeKept, SaysNothingOfNoStack) { EXPECT_FALSE(IsKept({})); }

}  // namespace
}  // namespace memprof
