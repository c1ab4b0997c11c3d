#include "cli/preflight/loader_command.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace memprof {
namespace {

template <size_t kCount>
bool IsAmong(std::string_view word, const std::string_view (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

constexpr std::string_view kWithValue[] = {"--library-path",
                                           "--glibc-hwcaps-prepend",
                                           "--glibc-hwcaps-mask",
                                           "--inhibit-rpath",
                                           "--audit",
                                           "--preload",
                                           "--argv0"};
constexpr std::string_view kStartsNothing[] = {
    "--list", "--verify", "--list-tunables", "--list-diagnostics", "--help", "--version"};

}  // namespace

LoaderCommand ReadLoaderCommand(const std::vector<std::string>& command) {
  LoaderCommand read;
  size_t at = 1;
  for (; at < command.size() && command[at].starts_with("--"); ++at) {
    const std::string& word = command[at];
    if (IsAmong(word, kStartsNothing)) {
      read.only = word;
      continue;
    }
    read.options.push_back(word);
    if (!IsAmong(word, kWithValue) || at + 1 == command.size()) continue;
    read.options.push_back(command[++at]);
    if (word == "--argv0") read.argv0 = command[at];
  }
  if (at >= command.size()) return read;
  read.program = at;
  if (read.argv0.empty()) read.argv0 = command[at];
  return read;
}

}  // namespace memprof
