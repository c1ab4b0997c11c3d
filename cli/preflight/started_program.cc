#include "cli/preflight/started_program.h"

#include <elf.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "cli/basics/process_facts.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/loader_command.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

// A process's path as it can be opened from here.
std::optional<std::filesystem::path> Reachable(pid_t pid, const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path whole = path;
  if (path.is_relative()) {
    whole = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), error) / path;
    if (error) return std::nullopt;
  }
  const auto reachable =
      std::filesystem::path(fmt::format("/proc/{}/root", pid)) / whole.relative_path();
  return std::filesystem::is_regular_file(reachable, error) ? std::optional(reachable)
                                                            : std::nullopt;
}

// The same of a program whose process has another working directory by now: a file of that name
// that is mapped.
std::optional<std::filesystem::path> Mapped(pid_t pid, const std::filesystem::path& path) {
  std::ifstream file(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(file, line);) {
    const auto mapping = ParseMappingLine(line);
    if (!mapping || !mapping->name.starts_with('/')) continue;
    const std::filesystem::path name(mapping->name);
    if (name.filename() == path.filename()) return Reachable(pid, name);
  }
  return std::nullopt;
}

}  // namespace

StartedProgram StartedProgramOf(pid_t pid) {
  StartedProgram started;
  const std::string executable = fmt::format("/proc/{}/exe", pid);
  std::error_code error;
  const auto link = std::filesystem::read_symlink(executable, error);
  if (error) return started;
  started.file = executable;
  started.name = link.filename().string();
  const std::vector<std::string> command = CommandLineOf(pid);
  if (!command.empty()) started.argv0 = command[0];
  // The kernel has mapped a loader for every other program that is dynamically linked.
  if (AuxiliaryValue(pid, AT_BASE) != 0) return started;
  const auto facts = ReadElfFacts(executable);
  if (!facts || !IsLoader(*facts)) return started;
  const LoaderCommand loader = ReadLoaderCommand(command);
  if (loader.program == 0) return started;
  auto file = Reachable(pid, command[loader.program]);
  if (!file) file = Mapped(pid, command[loader.program]);
  if (!file) return started;
  started.file = file->string();
  const auto real = std::filesystem::canonical(*file, error);
  started.name = (error ? *file : real).filename().string();
  started.argv0 = loader.argv0;
  return started;
}

}  // namespace memprof
