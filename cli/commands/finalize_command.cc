// memprof finalize: converts the region of a run without a supervisor into a small capture.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/load/capture_name.h"
#include "cli/load/load.h"
#include "cli/terminal/output.h"
#include "core/units.h"
#include "formats/atomic_file.h"
#include "formats/capture/capture_reader.h"

namespace memprof {
namespace {

struct FinalizeOptions {
  std::vector<std::string> regions;
  bool running = false;
  bool quiet = false;
  OutputOptions output = {.has_capture = true};
};

Result<void> CheckProcess(const FinalizeOptions& options, const std::string& file,
                          const CaptureBytes& capture) {
  if (capture.process == 0) return {};
  if (options.running && !options.output.file.empty()) return {};
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: process {} still counts in it; end it first, or store what there is "
                          "now with --running -o FILE",
                          file, capture.process));
}

// The capture replaces the region unless another file is named.
int Finalize(const FinalizeOptions& options, const std::string& region) {
  const auto whole = WholeCapture(region, "finalize makes a capture of a region");
  if (!whole) return ExitStatusOf(whole.error());
  const std::string& file = *whole;
  const auto capture = LoadCaptureBytes(file);
  if (!capture) return ExitStatusOf(capture.error());
  if (!capture->is_region) {
    if (const auto decoded = DecodeCapture(capture->bytes); !decoded) {
      return ExitStatusOf(
          {decoded.error().kind, fmt::format("{}: {}", file, decoded.error().message)});
    }
    if (!options.output.file.empty()) {
      Say("{} is a capture already; copy it", file);
      return kExitUsage;
    }
    if (!options.quiet) Say("{} is a capture already", file);
    return kExitFine;
  }
  if (const auto fine = CheckProcess(options, file, *capture); !fine) {
    return ExitStatusOf(fine.error());
  }
  const bool in_place = options.output.file.empty();
  const int status = [&] {
    if (!in_place) return WriteOutput(options.output, capture->bytes);
    const auto written = WriteFileAtomically(file, capture->bytes, Readers::kOwner);
    return written ? kExitFine : ExitStatusOf(written.error());
  }();
  if (status == kExitFine && !options.quiet && (in_place || !IsStdout(options.output))) {
    const std::string& name = in_place ? file : options.output.file;
    Say("{}: a capture of {}; see: memprof summary {}", name, FormatBytes(capture->bytes.size()),
        name);
  }
  return status;
}

int FinalizeCommand(const FinalizeOptions& options) {
  if (!options.output.file.empty()) {
    if (options.regions.size() > 1) {
      Say("-o names one file, and there are {} regions; finalize them one by one, or without -o",
          options.regions.size());
      return kExitUsage;
    }
    if (IsStdout(options.output) && isatty(STDOUT_FILENO) != 0) {
      Say("a capture is binary; name a file with -o");
      return kExitUsage;
    }
    if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  } else if (options.running) {
    Say("--running needs -o FILE: the process goes on counting in its own");
    return kExitUsage;
  }
  umask(S_IRWXG | S_IRWXO);  // a capture has the command line, so only its owner may read it
  int status = kExitFine;
  for (const std::string& region : options.regions) {
    const int of_one = Finalize(options, region);
    if (status == kExitFine) status = of_one;
  }
  return status;
}

}  // namespace

CommandBody SetUpFinalize(Arguments& arguments) {
  auto options = std::make_shared<FinalizeOptions>();
  arguments.Add("region", options->regions, "The files that MEMPROF_OUTPUT or run --region left")
      .Required()
      .TypeName("FILE...");
  arguments
      .Add("-o,--output", options->output.file,
           "Write the capture to this file (default: it takes the region's place)")
      .TypeName("FILE");
  arguments.AddFlag("-f,--force", options->output.force, "Overwrite an existing file");
  arguments.AddFlag("--running", options->running,
                    "Also of a process that still runs: what it has counted so far");
  arguments.AddFlag("-q,--quiet", options->quiet, "Say nothing of what was written");
  return [options] { return FinalizeCommand(*options); };
}

}  // namespace memprof
