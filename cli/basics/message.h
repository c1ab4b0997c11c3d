// memprof's own lines on stderr.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "cli/basics/ascii_text.h"
#include "core/printable.h"

namespace memprof {

// Prints one line that begins "memprof: ", in one write so that it doesn't mix with the program's
// output. Names in it may be foreign.
inline void Say(const std::string& text) {
  const std::string line = "memprof: " + ForLocale(Printable(text)) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

template <typename... Arguments>
void Say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  Say(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace memprof
