// Lines of memprof's own on stderr.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace memprof {

// One line that begins "memprof: ", written at once so that it doesn't mix with the program's.
inline void Say(const std::string& text) {
  const std::string line = "memprof: " + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

template <typename... Arguments>
void Say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  Say(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace memprof
