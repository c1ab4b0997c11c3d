#include "cli/preflight/started_program.h"

#include <elf.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/loader_command.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

// A process's path as it can be opened from here. `folder`: LivingFolder.
std::optional<std::filesystem::path> Reachable(pid_t pid, const std::string& folder,
                                               const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path whole = path;
  if (path.is_relative()) {
    const std::string current = ProcLink(pid, folder + "cwd");
    if (current.empty()) return std::nullopt;
    whole = std::filesystem::path(current) / path;
  }
  const std::string root = ProcPath(pid, folder + "root");
  if (root.empty()) return std::nullopt;
  const auto reachable = std::filesystem::path(root) / whole.relative_path();
  return std::filesystem::is_regular_file(reachable, error) ? std::optional(reachable)
                                                            : std::nullopt;
}

// The same of a program whose process has another working directory by now: a file of that name
// that is mapped.
std::optional<std::filesystem::path> Mapped(pid_t pid, const std::string& folder,
                                            const std::filesystem::path& path) {
  ProcessMaps maps(pid);
  for (std::string line; maps.Next(line);) {
    const auto mapping = ParseMappingLine(line);
    if (!mapping || !mapping->name.starts_with('/')) continue;
    const std::filesystem::path name(mapping->name);
    if (name.filename() == path.filename()) return Reachable(pid, folder, name);
  }
  return std::nullopt;
}

}  // namespace

StartedProgram StartedProgramOf(pid_t pid) {
  StartedProgram started;
  std::string folder;
  std::string link = ProcLink(pid, "exe");
  if (link.empty()) {
    folder = LivingFolder(pid).value_or(std::string());
    if (!folder.empty()) link = ProcLink(pid, folder + "exe");
  }
  if (link.empty()) return started;
  started.file = ProcPath(pid, folder + "exe");
  started.name = std::filesystem::path(link).filename().string();
  const std::vector<std::string> command = CommandLineOf(pid);
  if (!command.empty()) started.argv0 = command[0];
  // The kernel has mapped a loader for every other program that is dynamically linked.
  if (AuxiliaryValue(pid, AT_BASE) != 0) return started;
  const auto facts = ReadElfFacts(started.file);
  if (!facts || !IsLoader(*facts)) return started;
  const LoaderCommand loader = ReadLoaderCommand(command);
  if (loader.program == 0) return started;
  auto file = Reachable(pid, folder, command[loader.program]);
  if (!file) file = Mapped(pid, folder, command[loader.program]);
  if (!file) return started;
  std::error_code error;
  started.file = file->string();
  const auto real = std::filesystem::canonical(*file, error);
  started.name = (error ? *file : real).filename().string();
  started.argv0 = loader.argv0;
  return started;
}

}  // namespace memprof
