#include "cli/supervisor/channels/preload.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/basics/own_library.h"
#include "cli/preflight/loaded_modules.h"
#include "cli/preflight/preflight.h"
#include "cli/supervisor/channels/private_directory.h"

namespace memprof {

Result<std::string> FindPreload() { return FindOwnLibrary(kPreloadName); }

Result<std::string> FindJemallocPreload(const std::string& preload) {
  const auto path = std::filesystem::path(preload).parent_path() / kJemallocPreloadName;
  if (access(path.c_str(), R_OK) == 0) return path.string();
  return Fail(ErrorKind::kNotFound,
              fmt::format("{} is missing; install or build memprof as a whole", path.string()));
}

Result<std::vector<std::string>> PreloadsFor(const Preflight& program, const std::string& preload) {
  std::vector<std::string> preloads = {preload};
  if (program.loader.empty()) return preloads;
  if (MallocxLibrary(ListModules(program.Runs(), program.loader, program.loader_options)).empty())
    return preloads;
  const auto path = FindJemallocPreload(preload);
  if (!path) return tl::unexpected<Error>(path.error());
  preloads.push_back(*path);
  return preloads;
}

Result<std::string> PreloadablePath(const std::string& preload, PrivateDirectory& directory) {
  if (IsPreloadable(preload)) return preload;
  const std::string link = directory.Hold(std::filesystem::path(preload).filename().string());
  if (symlink(preload.c_str(), link.c_str()) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("{}: {}", link, strerror(errno)));
  }
  return link;
}

Result<std::string> PreloadablePaths(const std::vector<std::string>& preloads,
                                     PrivateDirectory& directory) {
  std::vector<std::string> paths;
  for (const std::string& preload : preloads) {
    auto path = PreloadablePath(preload, directory);
    if (!path) return path;
    paths.push_back(std::move(*path));
  }
  return PreloadablePaths(paths);
}

Result<std::string> PreloadablePaths(const std::vector<std::string>& preloads) {
  for (const std::string& path : preloads) {
    if (IsPreloadable(path)) continue;
    return Fail(ErrorKind::kUsage,
                fmt::format("LD_PRELOAD can't hold {}: install memprof in a folder without blanks, "
                            "colons and dollar signs",
                            path));
  }
  return fmt::format("{}", fmt::join(preloads, ":"));
}

}  // namespace memprof
