// memprof env: prints the variables to set for a run without a supervisor.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/basics/message.h"
#include "cli/basics/option_checks.h"
#include "cli/basics/output_name.h"
#include "cli/commands/commands.h"
#include "cli/commands/environment_text.h"
#include "cli/commands/options/tracking_options.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/preflight.h"
#include "cli/supervisor/channels/preload.h"
#include "core/protocol/unsupervised.h"

namespace memprof {
namespace {

struct EnvOptions {
  std::string output;
  EnvironmentFormat format = EnvironmentFormat::kShell;
  TrackingFlags tracking;
  bool mmap = true;
  bool follow_fork = true;
  bool command_line = true;
  uint32_t max_files = kDefaultMaxFiles;
  std::vector<std::string> program;  // with its arguments
};

// The options that differ from the default, in the syntax of core/protocol/unsupervised.h.
std::string OptionsText(const EnvOptions& options, const TrackerOptions& tracker) {
  std::vector<std::string> words;
  if (tracker.sample_bytes != 0) words.push_back(fmt::format("sample={}", tracker.sample_bytes));
  if (tracker.temporary_threshold != 1) {
    words.push_back(fmt::format("temporary={}", tracker.temporary_threshold));
  }
  if (tracker.exact_peak != 0) words.push_back("exact-peak");
  if (!options.mmap) words.push_back("no-mmap");
  if (tracker.python == 0) words.push_back("no-python");
  if (tracker.python_objects != 0) words.push_back("python-allocators");
  if (!options.follow_fork) words.push_back("no-follow-fork");
  if (!options.command_line) words.push_back("no-command-line");
  if (options.max_files != kDefaultMaxFiles) {
    words.push_back(fmt::format("max-files={}", options.max_files));
  }
  return fmt::format("{}", fmt::join(words, ","));
}

// Only warns: the service may run as another user, or its folder may be made later.
void WarnOfOutput(const std::string& output) {
  const auto fine = CheckOutput(ExpandName(output, "program", 1), "-o", true);
  if (!fine) Say("warning: {}", fine.error().message);
}

Result<std::string> PreloadText(const EnvOptions& options) {
  auto preload = FindPreload();
  if (!preload) return preload;
  std::vector<std::string> preloads = {*preload};
  if (!options.program.empty()) {
    const auto preflight = CheckProgram(options.program, ProgramSearchPath());
    if (!preflight) return Fail(ErrorKind::kUsage, preflight.error().message);
    for (const std::string& warning : preflight->warnings) Say("warning: {}", warning);
    // The functions are at other addresses in each program, but the environment is for all of them.
    if (const auto facts = ReadElfFacts(preflight->Runs()); facts && facts->jemalloc.mallctl != 0) {
      Say("warning: {} has a jemalloc inside, which only memprof run hooks: what it allocates is "
          "not seen",
          preflight->path);
    }
    const auto found = PreloadsFor(*preflight, *preload);
    if (!found) return tl::unexpected<Error>(found.error());
    preloads = *found;
  }
  return PreloadablePaths(preloads);
}

Result<std::string> Text(const EnvOptions& options) {
  if (options.output.empty() || options.output.ends_with("/") ||
      options.output.find('\n') != std::string::npos) {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' names no file; write -o FILE", options.output));
  }
  std::error_code error;
  const std::string output = std::filesystem::absolute(options.output, error).string();
  if (error) return Fail(ErrorKind::kIo, fmt::format("{}: {}", options.output, error.message()));
  const auto tracker = ReadTrackingFlags(options.tracking);
  if (!tracker) return tl::unexpected<Error>(tracker.error());
  const std::string words = OptionsText(options, *tracker);
  auto preload = PreloadText(options);
  if (!preload) return preload;
  WarnOfOutput(output);
  std::vector<std::pair<std::string, std::string>> variables = {{"LD_PRELOAD", *preload},
                                                                {kOutputVariable, output}};
  if (!words.empty()) variables.emplace_back(kOptionsVariable, words);
  return EnvironmentText(variables, options.format);
}

int Env(const EnvOptions& options) {
  const auto text = Text(options);
  if (!text) {
    Say(text.error().message);
    return text.error().kind == ErrorKind::kUsage ? kExitUsage : kExitFailed;
  }
  if (std::fputs(text->c_str(), stdout) < 0 || std::fflush(stdout) != 0) return kExitFailed;
  return kExitFine;
}

}  // namespace

CommandBody SetUpEnv(Arguments& arguments) {
  auto options = std::make_shared<EnvOptions>();
  arguments
      .Add("-o,--output", options->output,
           "The file that the program is to count in, in a folder that is there; %p is the "
           "pid, %n the program. Who finds it there puts its pid in the name")
      .Required()
      .TypeName("FILE");
  arguments
      .AddTaken(
          "--format",
          [options](const std::string& text) -> Result<void> {
            if (ParseEnvironmentFormat(text, options->format)) return {};
            return Fail(ErrorKind::kUsage,
                        "'" + text + "' is no format; write shell, systemd or docker");
          },
          "Lines for a shell, for a unit of systemd, or for a Dockerfile")
      .TypeName("shell|systemd|docker")
      .ShowDefault("shell");
  AddTrackingOptions(arguments, options->tracking);
  AddPythonAllocatorsOption(arguments, options->tracking);
  arguments.AddFlag("--mmap,!--no-mmap", options->mmap,
                    "Follow what the program maps itself (mmap, mremap, brk); the default");
  arguments.AddFlag(
      "--follow-fork,!--no-follow-fork", options->follow_fork,
      "Profile every process that the program starts, too, each in a file with its pid "
      "(the default); --no-follow-fork: only who finds the file's name free");
  AddCommandLineOption(arguments, options->command_line);
  arguments
      .Add("--max-files", options->max_files,
           "So many files of such names at most: processes that come then are not profiled")
      .Check(FileCount)
      .TypeName("N")
      .ShowDefault();
  arguments
      .Add("PROGRAM", options->program,
           "Say what will be seen of this program, and hook what it needs. Arguments count for "
           "the loader (ld-linux-x86-64.so.2 ./program)")
      .TypeName("COMMAND");
  return [options] { return Env(*options); };
}

}  // namespace memprof
