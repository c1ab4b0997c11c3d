// The symbolizer's notes, grouped for people: modules that lack the same become one note.
//
//   liba.so: no debug info; install a-dbgsym, or …       liba.so, libb.so: no debug info; install
//   libb.so: no debug info; install b-dbgsym, or …   →   a-dbgsym, b-dbgsym, or …
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

namespace memprof {

// In the order of each group's first note.
std::vector<std::string> GroupedNotes(const std::vector<std::string>& notes);

}  // namespace memprof
