#include "core/frame_kind.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

constexpr char kProgram[] = "/usr/bin/demo";

TEST(FrameKind, TakesTheCLibraryAndAllocatorsForSystem) {
  EXPECT_EQ(ClassifyFrame("__libc_start_main", "/lib/x86_64-linux-gnu/libc.so.6"),
            FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("f", "libc-2.31.so"), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("f", "/lib64/ld-linux-x86-64.so.2"), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("f", "/usr/lib/libstdc++.so.6.0.30"), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("f", "libjemalloc.so.2"), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("f", "/opt/libmemprof_preload.so"), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("f", "/opt/libmemprof_attach.so"), FrameKind::kSystem);
}

TEST(FrameKind, DoesNotTakeAModuleForSystemBecauseItsNameBeginsLikeOne) {
  EXPECT_EQ(ClassifyFrame("f", "/usr/lib/libcairo.so.2"), FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("f", "/usr/lib/libmagic.so.1"), FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("f", "/usr/lib/librtmp.so.1"), FrameKind::kProgram);
}

TEST(FrameKind, LooksAtTheScopeOfAFunctionNotAtItsArguments) {
  EXPECT_EQ(
      ClassifyFrame("std::vector<int, std::allocator<int> >::reserve(unsigned long)", kProgram),
      FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("void std::vector<int>::emplace_back<int>(int&&)", kProgram),
            FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("__gnu_cxx::new_allocator<char>::allocate(unsigned long)", kProgram),
            FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("load(std::string const&)", kProgram), FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("std::string load(int)", kProgram), FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("std::vector<int, std::allocator<int> > load<int>(int)", kProgram),
            FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("void (anonymous namespace)::load(std::string)", kProgram),
            FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("mystd::load()", kProgram), FrameKind::kProgram);
}

TEST(FrameKind, TakesOperatorNewAndMallocForSystemWhereverTheyAre) {
  EXPECT_EQ(ClassifyFrame("operator new(unsigned long)", kProgram), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("operator new[](unsigned long, std::nothrow_t const&)", kProgram),
            FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("malloc", kProgram), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("malloc_pages", kProgram), FrameKind::kProgram);
}

TEST(FrameKind, TakesBracketedNamesForRowsOnlyWithoutAModule) {
  EXPECT_EQ(ClassifyFrame("[truncated]", ""), FrameKind::kRow);
  EXPECT_EQ(ClassifyFrame("[odd]", kProgram), FrameKind::kProgram);
}

TEST(FrameKind, TakesWrappersOfAllocatorsForPlumbing) {
  for (const char* name :
       {"zmalloc", "zmalloc_usable", "xrealloc", "g_malloc0", "CRYPTO_zalloc", "zcalloc_num",
        "xstrdup", "my_reallocarray", "sds_strdup", "PyMem_Malloc", "_PyObject_Realloc"}) {
    EXPECT_EQ(ClassifyFrame(name, "/usr/bin/program"), FrameKind::kSystem) << name;
  }
  for (const char* name :
       {"mallocate", "malloc_pages", "reallocation", "make_everything_malloc", "parse", "call",
        "Leak_Realloc", "leak_realloc", "cache_calloc", "Pool::Malloc", "xMalloced"}) {
    EXPECT_EQ(ClassifyFrame(name, "/usr/bin/program"), FrameKind::kProgram) << name;
  }
}

TEST(FrameKind, TakesTheWrappersThatAreAddedForPlumbing) {
  EXPECT_EQ(ClassifyFrame("pool_take", kProgram), FrameKind::kProgram);
  AddWrapper([](std::string_view function) { return function == "pool_take"; });
  EXPECT_EQ(ClassifyFrame("pool_take", kProgram), FrameKind::kSystem);
  EXPECT_EQ(ClassifyFrame("pool_taken", kProgram), FrameKind::kProgram);
}

TEST(FrameKind, KnowsTheInterpretersModules) {
  for (const char* module : {"/usr/bin/python3.11", "python", "python3",
                             "/usr/lib/libpython3.12.so.1.0", "libpython3.8d.so"}) {
    EXPECT_TRUE(IsInterpreterModule(module)) << module;
  }
  for (const char* module :
       {"", "/srv/pythonic", "libpythonqt.so", "_json.cpython-311.so", "a.py"}) {
    EXPECT_FALSE(IsInterpreterModule(module)) << module;
  }
}

TEST(FrameKind, TakesPythonFunctionsForTheProgramsWhateverTheirName) {
  EXPECT_EQ(ClassifyFrame("malloc", "/srv/a.py"), FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("<module>", "<string>"), FrameKind::kProgram);
  EXPECT_EQ(ClassifyFrame("_find_and_load", "<frozen importlib._bootstrap>"), FrameKind::kSystem);
}

}  // namespace
}  // namespace memprof
