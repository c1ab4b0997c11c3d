#include "cli/supervisor/tree/program_filter.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "cli/preflight/started_program.h"

namespace memprof {
namespace {

bool AnyMatches(const std::vector<std::string>& patterns, const std::vector<std::string>& names) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
  });
}

}  // namespace

bool ProgramFilter::Takes(const std::vector<std::string>& names) const {
  if (AnyMatches(skip, names)) return false;
  return only.empty() || AnyMatches(only, names);
}

std::vector<std::string> ProgramNamesOf(pid_t pid) {
  const StartedProgram program = StartedProgramOf(pid);
  std::vector<std::string> names;
  if (!program.name.empty()) names.push_back(program.name);
  if (!program.executable.empty()) names.push_back(program.executable);
  if (!program.argv0.empty()) {
    names.push_back(std::filesystem::path(program.argv0).filename().string());
  }
  return names;
}

}  // namespace memprof
