// Lines of memprof's own on stderr.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "core/printable.h"

namespace memprof {

// One line that begins "memprof: ", written at once so that it doesn't mix with the program's.
// Names in it may be of others.
inline void Say(const std::string& text) {
  const std::string line = "memprof: " + Printable(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

template <typename... Arguments>
void Say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  Say(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace memprof
