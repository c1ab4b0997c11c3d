#include "cli/symbols/debug_packages.h"

#include <filesystem>
#include <map>
#include <set>

#include "cli/basics/command_output.h"

namespace memprof {
namespace {

// Most packages have NAME-dbgsym in the archive of debug symbols; a few have one in the main
// archive.
std::string DebugPackageOf(std::string_view package) {
  if (package == "libc6") return "libc6-dbg";
  if (package.starts_with("python3."))
    return std::string(package.substr(0, package.find('-'))) + "-dbg";
  return std::string(package) + "-dbgsym";
}

// dpkg knows a file by the name that it was unpacked with: in /lib or /usr/lib.
std::vector<std::string> NamesOf(const std::string& file) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(file, error).string();
  if (error) return {};
  std::vector<std::string> names = {real};
  if (real.starts_with("/usr/")) names.push_back(real.substr(4));
  return names;
}

// Maps the files' names to debug packages, from dpkg-query's output.
std::map<std::string, std::string> PackagesByName(std::string_view text) {
  std::map<std::string, std::string> packages;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos || line.starts_with("diversion ")) continue;
    // There may be several owners ("a, b: /file") and an architecture ("a:amd64"): the first name
    // counts.
    const std::string_view owners = line.substr(0, colon);
    packages.emplace(line.substr(colon + 2),
                     DebugPackageOf(owners.substr(0, owners.find_first_of(":,"))));
  }
  return packages;
}

std::string Ask(const std::vector<std::string>& files) {
  std::vector<std::string> argv = {"dpkg-query", "-S"};
  for (const std::string& file : files) {
    for (const std::string& name : NamesOf(file)) argv.push_back(name);
  }
  return argv.size() == 2 ? std::string() : OutputOf(argv);
}

}  // namespace

std::vector<std::string> ParseDebugPackages(std::string_view text) {
  std::set<std::string> packages;
  for (const auto& entry : PackagesByName(text)) packages.insert(entry.second);
  return {packages.begin(), packages.end()};
}

std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& files) {
  return ParseDebugPackages(Ask(files));
}

std::vector<std::string> DebugPackageOfEach(const std::vector<std::string>& files) {
  const auto packages = PackagesByName(Ask(files));
  std::vector<std::string> found;
  for (const std::string& file : files) {
    std::string& package = found.emplace_back();
    for (const std::string& name : NamesOf(file)) {
      if (const auto at = packages.find(name); at != packages.end()) package = at->second;
    }
  }
  return found;
}

}  // namespace memprof
