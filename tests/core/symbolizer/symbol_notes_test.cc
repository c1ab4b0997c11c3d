#include "core/symbolizer/symbol_notes.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(SymbolNotes, AreOfModulesThatSomebodyCanDoSomethingAbout) {
  for (const char* path : {"/usr/lib/memprof/libmemprof_preload.so", "/opt/libmemprof_attach.so",
                           "libmemprof_jemalloc.so", "[vdso]"}) {
    for (const Lack lack : {Lack::kFile, Lack::kSymbols, Lack::kDebugInfo}) {
      EXPECT_EQ(SymbolNote({path, "ab"}, lack, {}, ""), "") << path;
    }
  }
  EXPECT_NE(SymbolNote({"/usr/lib/libmemprofiler.so", "ab"}, Lack::kDebugInfo, {}, ""), "");
  EXPECT_EQ(SymbolNote({"/bin/demo", "ab"}, Lack::kNothing, {}, ""), "");
}

}  // namespace
}  // namespace memprof
