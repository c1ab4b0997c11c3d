#include "cli/commands/run/run_outputs.h"

#include <filesystem>

#include "cli/basics/output_name.h"

namespace memprof {
namespace {

// Checks the directory of the named moments' files, if it is the same for all.
Result<void> CheckNamedMomentFiles(const NamedMomentOptions& options, pid_t pid) {
  const std::string one = "1", another = "2";
  const std::filesystem::path file = ExpandName(options.files, options.program, pid, &one);
  const std::filesystem::path next = ExpandName(options.files, options.program, pid, &another);
  if (file.empty() || file.parent_path() != next.parent_path()) return {};
  return CheckOutput(file, "--snapshot-files", true);
}

// True if two of the run's own files are the same, however they are spelt.
bool AreSame(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && CanonicalName(a) == CanonicalName(b);
}

}  // namespace

Result<SupervisorOptions> NameOutputs(const RunOptions& options, const RunSettings& settings,
                                      const std::string& program, pid_t pid) {
  SupervisorOptions named;
  named.program = std::filesystem::path(program).filename().string();
  named.output = ExpandName(options.output, program, pid);
  named.region = ExpandName(options.region, program, pid);
  named.overwrite = options.force;
  named.checkpoint = options.checkpoint;
  named.timeout = options.timeout;
  named.command_line = options.command_line;
  named.tracker = settings.tracker;
  named.inspections = settings.inspections;
  named.named_moments = settings.named_moments;
  named.named_moments.program = program;
  named.named_moments.overwrite = options.force;
  if (auto fine = CheckNamedMomentFiles(named.named_moments, pid); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  named.metrics = ExpandName(options.metrics, program, pid);
  if (!named.metrics.empty()) {
    if (AreSame(named.metrics, named.output) || AreSame(named.metrics, named.region)) {
      return Fail(ErrorKind::kUsage, "--metrics names a file of another option; give it its own");
    }
    // The file is overwritten at each checkpoint, and by the next run.
    if (auto fine = CheckOutput(named.metrics, "--metrics", true); !fine) {
      return tl::unexpected<Error>(fine.error());
    }
    if (auto fine = CheckOverwrittenMetrics(named.metrics, "--metrics"); !fine) {
      return tl::unexpected<Error>(fine.error());
    }
  }
  if (AreSame(named.output, named.region)) {
    return Fail(ErrorKind::kUsage, "-o and --region name the same file; give each its own");
  }
  if (auto fine = CheckOutput(named.output, "-o", options.force); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  if (auto fine = CheckCapturesOf(named.output, "-o"); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  if (named.region.empty()) return named;
  if (auto fine = CheckOutput(named.region, "--region", options.force); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  if (auto fine = CheckOverwritten(named.region, "--region"); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  return named;
}

}  // namespace memprof
