#include "cli/preflight/started_program.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/uio.h>

#include <filesystem>
#include <optional>

#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/loader_command.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

// A process's path in a form that can be opened from here. `folder` is LivingFolder's result.
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

// The same for a process that has changed its working directory: a mapped file of that name.
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

// The name that was executed, if it is a link to the executable.
std::optional<std::string> LinkedName(pid_t pid, const std::string& folder,
                                      const std::filesystem::path& executable) {
  const auto at = AuxiliaryValue(pid, AT_EXECFN);
  if (!at || *at == 0) return std::nullopt;
  char text[4096] = {};
  iovec local = {text, sizeof text - 1};
  // As far as the end of its page: the kernel writes the name last on the stack.
  const size_t in_page = 4096 - *at % 4096;
  ssize_t read = 0;
  for (const size_t bytes : {sizeof text - 1, in_page}) {
    iovec remote = {reinterpret_cast<void*>(*at), bytes};
    read = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (read > 0) break;
  }
  if (read <= 0) return std::nullopt;
  const std::filesystem::path name(text);
  // The kernel's own links (/proc/self/exe, /dev/fd/3) are no names.
  if (name.string().starts_with("/proc/") || name.string().starts_with("/dev/")) {
    return std::nullopt;
  }
  const auto reachable = Reachable(pid, folder, name);
  std::error_code error;
  if (!reachable || !std::filesystem::equivalent(*reachable, executable, error)) {
    return std::nullopt;
  }
  return name.filename().string();
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
  started.executable = std::filesystem::path(link).filename().string();
  started.name = LinkedName(pid, folder, started.file).value_or(started.executable);
  const std::vector<std::string> command = CommandLineOf(pid);
  if (!command.empty()) started.argv0 = command[0];
  // The kernel has mapped a loader for every other dynamically linked program.
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
  started.executable = (error ? *file : real).filename().string();
  started.name = started.executable;
  started.argv0 = loader.argv0;
  return started;
}

}  // namespace memprof
