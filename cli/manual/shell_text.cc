#include "cli/manual/shell_text.h"

namespace memprof {

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += separator;
    joined += word;
  }
  return joined;
}

std::vector<const CommandPage*> AllCommands(const CommandPage& memprof) {
  std::vector<const CommandPage*> all = {&memprof};
  for (const CommandPage& command : memprof.commands) {
    const std::vector<const CommandPage*> below = AllCommands(command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace memprof
