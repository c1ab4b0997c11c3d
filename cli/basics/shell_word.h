// Words of commands that memprof tells people to run.
//
// Thread safety: pure.
#pragma once

#include <string>

namespace memprof {

// A word that a shell takes as it is.
std::string ShellWord(const std::string& word);

}  // namespace memprof
