#include "cli/reports/symbol_notes.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

using Notes = std::vector<std::string>;

TEST(SymbolNotes, OfModulesThatLackTheSameAreOne) {
  EXPECT_EQ(GroupedNotes({"a.so: no symbols; do x", "b.so: no file", "c.so: no symbols; do x"}),
            (Notes{"a.so, c.so: no symbols; do x", "b.so: no file"}));
}

TEST(SymbolNotes, NameThePackagesOfAllEachOnce) {
  EXPECT_EQ(GroupedNotes({"libc.so.6: no lines; install libc6-dbg, or set X",
                          "redis: no lines; install redis-dbgsym, or set X",
                          "libm.so.6: no lines; install libc6-dbg, or set X"}),
            (Notes{"libc.so.6, redis, libm.so.6: no lines; install libc6-dbg, redis-dbgsym, or set "
                   "X"}));
  EXPECT_EQ(GroupedNotes({"a: no lines; install p", "b: no lines; install q"}),
            (Notes{"a, b: no lines; install p, q"}));
}

TEST(SymbolNotes, ThatSayDifferentThingsStayApart) {
  const Notes notes = {"a: no lines; install p, or set X", "b: no lines; install q",
                       "c: no lines; build it", "d: no symbols; install p, or set X", "odd"};
  EXPECT_EQ(GroupedNotes(notes), notes);
}

}  // namespace
}  // namespace memprof
