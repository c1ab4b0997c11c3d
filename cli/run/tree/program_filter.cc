#include "cli/run/tree/program_filter.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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
  const std::string directory = "/proc/" + std::to_string(pid) + "/";
  std::vector<std::string> names;
  std::error_code error;
  const auto executable = std::filesystem::read_symlink(directory + "exe", error);
  if (!error) names.push_back(executable.filename().string());
  std::ifstream file(directory + "cmdline", std::ios::binary);
  std::string argument;
  if (std::getline(file, argument, '\0') && !argument.empty()) {
    names.push_back(std::filesystem::path(argument).filename().string());
  }
  return names;
}

}  // namespace memprof
