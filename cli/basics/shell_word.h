// Quotes words of commands: those that memprof tells people to run, and those that a capture has.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

namespace memprof {

// The word in a form that a shell takes literally.
std::string ShellWord(const std::string& word);

// A command line that gives these words to a shell.
std::string ShellWords(const std::vector<std::string>& words);

}  // namespace memprof
