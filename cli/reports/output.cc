#include "cli/reports/output.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/message.h"
#include "core/result.h"
#include "formats/capture_writer.h"

namespace memprof {

void AddOutputOptions(CLI::App& app, OutputOptions& options) {
  app.add_option("-o,--output", options.file, "Write to this file instead of stdout");
  app.add_flag("-f,--force", options.force, "Overwrite an existing file");
}

int WriteOutput(const OutputOptions& options, const std::string& text) {
  if (options.file.empty()) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) {
      Say("stdout: {}", strerror(errno));
      return kExitFailed;
    }
    return kExitFine;
  }
  struct stat info;
  if (!options.force && lstat(options.file.c_str(), &info) == 0) {
    Say("{} exists; use -f to overwrite it", options.file);
    return kExitUsage;
  }
  const auto written = WriteFileAtomically(options.file, text);
  return written ? kExitFine : ExitStatusOf(written.error());
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
