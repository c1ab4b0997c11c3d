#include "cli/terminal/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "core/scoped_fd.h"
#include "core/write_all.h"
#include "formats/atomic_file.h"

namespace memprof {
namespace {

// True for a device, a pipe, or a name of one of our descriptors.
bool IsWrittenInPlace(const std::string& file) {
  struct stat target;
  if (stat(file.c_str(), &target) != 0) return false;
  if (S_ISDIR(target.st_mode)) return false;
  return IsSystemsLink(file) || !S_ISREG(target.st_mode);
}

Result<void> WriteTo(int fd, const std::string& name, const std::string& text) {
  if (!WriteAll(fd, text.data(), text.size())) {
    return Fail(ErrorKind::kIo, fmt::format("{} can't be written: {}", name, strerror(errno)));
  }
  return {};
}

Result<void> Write(const OutputOptions& options, const std::string& text) {
  if (IsStdout(options)) return WriteTo(STDOUT_FILENO, "stdout", text);
  if (auto free = CheckOutput(options); !free) return free;
  if (!IsWrittenInPlace(options.file)) {
    return WriteFileAtomically(options.file, text, Readers::kByUmask);
  }
  const ScopedFd fd(open(options.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) {
    return Fail(ErrorKind::kIo,
                fmt::format("{} can't be written: {}", options.file, strerror(errno)));
  }
  return WriteTo(fd.get(), options.file, text);
}

}  // namespace

bool IsStdout(const OutputOptions& options) { return options.file.empty() || options.file == "-"; }

void AddOutputOptions(Arguments& arguments, OutputOptions& options) {
  arguments.Add("-o,--output", options.file, "Write to this file instead of stdout")
      .TypeName("FILE");
  arguments.AddFlag("-f,--force", options.force, "Overwrite an existing file");
}

Result<void> CheckOutput(const OutputOptions& options) {
  struct stat info;
  if (IsStdout(options) || lstat(options.file.c_str(), &info) != 0) return {};
  if (S_ISDIR(info.st_mode)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} is a directory; name a file in it", options.file));
  }
  if (IsWrittenInPlace(options.file)) return {};
  if (options.force && !options.has_capture && BeginsAsCaptureOrRegion(options.file)) {
    return Fail(
        ErrorKind::kExists,
        fmt::format("{} is a capture of memprof's, so not even -f overwrites it by a report; "
                    "name another file",
                    options.file));
  }
  if (options.force) return {};
  return Fail(ErrorKind::kExists, fmt::format("{} exists; use -f to overwrite it", options.file));
}

int WriteOutput(const OutputOptions& options, const std::string& text) {
  const auto written = Write(options, text);
  return written ? kExitFine : ExitStatusOf(written.error());
}

TextStyle StyleOf(const OutputOptions& options) {
  return IsStdout(options) ? StyleOfStdout() : StyleOfFile();
}

int ExitStatusOf(const Error& error) {
  Say(error.message);
  switch (error.kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kExists:
      return kExitUsage;
    case ErrorKind::kUnreadable:
    case ErrorKind::kNotFound:
      return kExitUnreadable;
    case ErrorKind::kIo:
      break;
  }
  return kExitFailed;
}

}  // namespace memprof
