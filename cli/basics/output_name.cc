#include "cli/basics/output_name.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

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

namespace {

std::vector<std::string> CapturesOf(const std::string& output) {
  std::vector<std::string> names = {output, InsertBeforeExtension(output, ".all")};
  for (int image = 1;; ++image) {
    std::string name = InsertBeforeExtension(output, fmt::format(".exec{}", image));
    struct stat info;
    if (lstat(name.c_str(), &info) != 0) return names;
    names.push_back(std::move(name));
  }
}

// The first bytes of a file; empty if there are none, or it can't be read.
std::string BeginningOf(const std::string& file) {
  std::ifstream existing(file, std::ios::binary);
  char begin[16] = {};
  existing.read(begin, sizeof begin);
  return existing.is_open() ? std::string(begin, static_cast<size_t>(existing.gcount()))
                            : std::string();
}

}  // namespace

Result<void> CheckCapturesOf(const std::string& output, std::string_view option) {
  for (const std::string& name : CapturesOf(output)) {
    if (auto fine = CheckOverwritten(name, option); !fine) return fine;
  }
  return {};
}

void RemoveCapturesOf(const std::string& output) {
  for (const std::string& name : CapturesOf(output)) unlink(name.c_str());
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

bool BeginsAsCaptureOrRegion(const std::string& file) {
  const std::string beginning = BeginningOf(file);
  return beginning.starts_with("MEMPROFC") || beginning.starts_with("MEMRPFR1");
}

Result<void> CheckOverwritten(const std::string& file, std::string_view option) {
  if (BeginningOf(file).empty() || BeginsAsCaptureOrRegion(file)) return {};
  return Fail(ErrorKind::kExists,
              fmt::format("{} exists and is no capture of memprof's, so not even -f overwrites it; "
                          "name another with {}",
                          file, option));
}

Result<void> CheckOverwrittenMetrics(const std::string& file, std::string_view option) {
  const std::string beginning = BeginningOf(file);
  if (beginning.empty() || beginning.starts_with("# HELP memprof_")) return {};
  return Fail(
      ErrorKind::kExists,
      fmt::format("{} exists and has no metrics of memprof's; name another with {}", file, option));
}

}  // namespace memprof
