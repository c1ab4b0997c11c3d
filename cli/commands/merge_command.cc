// memprof merge: several captures as one.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/load/capture_name.h"
#include "cli/load/load.h"
#include "cli/terminal/output.h"
#include "formats/capture/capture_merger.h"

namespace memprof {
namespace {

struct MergeOptions {
  std::vector<std::string> captures;
  OutputOptions output = {.has_capture = true};
};

// Reads them one after another, so that only one is in memory at a time.
Result<MergedCapture> Merge(const std::vector<std::string>& captures) {
  CaptureMerger merger;
  for (const std::string& capture : captures) {
    const auto in = [&](ErrorKind kind, const std::string& why) {
      return Fail(kind, fmt::format("{}: {}", capture, why));
    };
    const auto file = WholeCapture(capture, "merge sums captures");
    if (!file) return tl::unexpected<Error>(file.error());
    const auto bytes = LoadCaptureBytes(*file);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    auto content = DecodeCapture(bytes->bytes);
    if (!content) return in(content.error().kind, content.error().message);
    if (!content->damage.empty()) {
      return in(ErrorKind::kUnreadable,
                fmt::format("damaged: section '{}': {}; nothing is merged",
                            content->damage[0].section, content->damage[0].what));
    }
    if (const auto added = merger.Add(std::move(*content)); !added) {
      return in(added.error().kind, added.error().message);
    }
  }
  return merger.Take();
}

int MergeCommand(const MergeOptions& options) {
  if (IsStdout(options.output) && isatty(STDOUT_FILENO) != 0) {
    Say("a capture is binary; name a file with -o");
    return kExitUsage;
  }
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  const auto merged = Merge(WithoutUnbegun(options.captures));
  if (!merged) return ExitStatusOf(merged.error());
  const auto bytes = EncodeMerge(*merged);
  if (!bytes) return ExitStatusOf(bytes.error());
  umask(S_IRWXG | S_IRWXO);  // a capture has the command line, so only its owner may read it
  return WriteOutput(options.output, *bytes);
}

}  // namespace

CommandBody SetUpMerge(Arguments& arguments) {
  auto options = std::make_shared<MergeOptions>();
  arguments.Add("capture", options->captures, "The captures, or files of run --region")
      .Required()
      .TypeName("CAPTURE...");
  AddOutputOptions(arguments, options->output);
  return [options] { return MergeCommand(*options); };
}

}  // namespace memprof
