#include "cli/basics/own_library.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace memprof {

Result<std::string> FindOwnLibrary(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Fail(ErrorKind::kIo,
                fmt::format("/proc/self/exe: {}; memprof needs /proc", error.message()));
  }
  return FindOwnLibraryFor(self.string(), name);
}

Result<std::string> FindOwnLibraryFor(const std::string& executable, const std::string& name) {
  const auto root = std::filesystem::path(executable).parent_path().parent_path();
  // MEMPROF_LIBRARY_DIRECTORY: the installation's directory, such as lib/x86_64-linux-gnu.
  for (const char* directory : {"lib", MEMPROF_LIBRARY_DIRECTORY}) {
    const auto path = root / directory / "memprof" / name;
    if (access(path.c_str(), R_OK) == 0) return path.string();
  }
  return Fail(ErrorKind::kNotFound,
              fmt::format("{} is missing beside {}; install or build memprof as a whole",
                          (root / "lib" / "memprof" / name).string(), executable));
}

}  // namespace memprof
