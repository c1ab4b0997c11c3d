#include "cli/supervisor/run_directories.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/control_texts.h"

namespace memprof {
namespace {

void AddDirectoriesIn(const std::string& base, std::vector<std::string>& directories) {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(base, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().starts_with(kPrivateDirectoryPrefix)) {
      directories.push_back(entry->path().string());
    }
  }
}

// The program's environment names its socket, wherever that is. The kernel's usual limit bounds how
// much is read: a process may claim to have more.
void AddDirectoryOf(uint32_t pid, std::vector<std::string>& directories) {
  constexpr size_t kLongestEnvironment = size_t{2} << 20;
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  std::string text(kLongestEnvironment, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (auto directory = DirectoryInEnvironment(text)) directories.push_back(std::move(*directory));
}

}  // namespace

std::vector<std::string> RunDirectories(uint32_t pid, uid_t owner) {
  std::vector<std::string> found;
  if (pid != 0) AddDirectoryOf(pid, found);
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr) {
    AddDirectoriesIn(runtime, found);
  }
  AddDirectoriesIn(fmt::format("/run/user/{}", owner), found);
  AddDirectoriesIn("/tmp", found);
  std::vector<std::string> directories;
  for (const std::string& directory : found) {
    const bool is_new =
        std::find(directories.begin(), directories.end(), directory) == directories.end();
    if (is_new) directories.push_back(directory);
  }
  return directories;
}

}  // namespace memprof
