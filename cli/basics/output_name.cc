#include "cli/basics/output_name.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/atomic_file.h"

namespace memprof {
namespace {

// Room for additions to a capture's name: ".all", ".exec12", a pid, and a temporary file's end.
constexpr size_t kLongestAddition = 32;

}  // namespace

std::string ExpandName(const std::string& pattern, const std::string& program, pid_t pid,
                       const std::string* moment) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      name += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'p':
        name += std::to_string(pid);
        break;
      case 'n':
        name += std::filesystem::path(program).filename().string();
        break;
      case '%':
        name += '%';
        break;
      default:
        if (pattern[i] == 's' && moment != nullptr) {
          name += *moment;
          break;
        }
        name += '%';
        name += pattern[i];
    }
  }
  return name;
}

std::string CanonicalName(const std::string& file) {
  const std::filesystem::path path(file);
  std::error_code error;
  const auto directory =
      std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
  return error || file.empty() ? file : (directory / path.filename()).string();
}

std::string InsertBeforeExtension(const std::string& file, const std::string& what) {
  const std::filesystem::path path(file);
  std::filesystem::path result = path.parent_path() / path.stem();
  result += what;
  result += path.extension();
  return result.string();
}

void RemoveCapturesOf(const std::string& output) {
  unlink(output.c_str());
  unlink(InsertBeforeExtension(output, ".all").c_str());
  for (int image = 1;; ++image) {
    const std::string name = InsertBeforeExtension(output, fmt::format(".exec{}", image));
    if (unlink(name.c_str()) != 0) return;
  }
}

Result<void> CheckOutput(const std::string& file, std::string_view option, bool overwrite) {
  if (file.empty()) {
    return Fail(ErrorKind::kUsage, fmt::format("{} is empty; it needs the name of a file", option));
  }
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  const std::string directory = parent.empty() ? std::string(".") : parent.string();
  struct stat info;
  if (stat(directory.c_str(), &info) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("the output directory {} can't be used: {}; create it "
                                            "or name another with {}",
                                            directory, strerror(errno), option));
  }
  if (!S_ISDIR(info.st_mode)) {
    return Fail(ErrorKind::kIo,
                fmt::format("{} is not a directory; name another with {}", directory, option));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("the output directory {} is not writable: {}; name "
                                            "another with {}",
                                            directory, strerror(errno), option));
  }
  if (std::filesystem::path(file).filename().native().size() > NAME_MAX - kLongestAddition) {
    return Fail(ErrorKind::kIo,
                fmt::format("the name {} is too long: memprof needs {} bytes more for "
                            "files beside it; name another with {}",
                            file, kLongestAddition, option));
  }
  if (lstat(file.c_str(), &info) != 0) return {};
  // The capture is renamed into place, and that would replace a device like /dev/null, or the link
  // /dev/stdout for every program.
  if ((!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) || IsSystemsLink(file)) {
    return Fail(ErrorKind::kIo,
                fmt::format("{} is not a regular file; name another with {}", file, option));
  }
  if (!overwrite) {
    return Fail(
        ErrorKind::kExists,
        fmt::format("{} exists; use -f to overwrite it, or {} to name another", file, option));
  }
  return {};
}

Result<void> CheckOverwritten(const std::string& file, std::string_view option) {
  std::ifstream existing(file, std::ios::binary);
  char magic[8] = {};
  existing.read(magic, sizeof magic);
  if (!existing.is_open() || existing.gcount() == 0) return {};
  for (const char* own : {"MEMPROFC", "MEMRPFR1"}) {
    if (std::memcmp(magic, own, sizeof magic) == 0) return {};
  }
  return Fail(ErrorKind::kExists,
              fmt::format("{} exists and is no capture of memprof's, so not even -f overwrites it; "
                          "name another with {}",
                          file, option));
}

}  // namespace memprof
