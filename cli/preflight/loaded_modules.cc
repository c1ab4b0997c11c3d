#include "cli/preflight/loaded_modules.h"

#include <utility>

#include "cli/basics/command_output.h"
#include "cli/preflight/elf_facts.h"

namespace memprof {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Removes the address from "path (0x7f…)".
std::string_view WithoutAddress(std::string_view text) {
  const size_t at = text.rfind(" (0x");
  return Trimmed(at == std::string_view::npos ? text : text.substr(0, at));
}

}  // namespace

// The lines have the forms "name => path (0x…)", "name => not found", "/lib64/ld-linux… (0x…)".
LoadedModules ParseModuleList(std::string_view text) {
  LoadedModules modules;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t arrow = line.find(" => ");
    const std::string_view target =
        Trimmed(arrow == std::string_view::npos ? line : line.substr(arrow + 4));
    if (target == "not found") {
      modules.missing.emplace_back(Trimmed(line.substr(0, arrow)));
      // excludes the kernel's linux-vdso.so.1
    } else if (target.find('/') != std::string_view::npos &&
               target.find(" (0x") != std::string_view::npos) {
      modules.paths.emplace_back(WithoutAddress(target));
    }
  }
  return modules;
}

LoadedModules ListModules(const std::string& program, const std::string& loader,
                          const std::vector<std::string>& loader_options) {
  std::vector<std::string> command = {loader, "--list"};
  command.insert(command.end(), loader_options.begin(), loader_options.end());
  command.push_back(program);
  LoadedModules modules = ParseModuleList(OutputOf(command));
  modules.paths.insert(modules.paths.begin(), program);
  return modules;
}

std::string MallocxLibrary(const LoadedModules& modules) {
  // The program calls the functions that it defines itself: nothing can be preloaded before it.
  for (size_t i = 1; i < modules.paths.size(); ++i) {
    const auto facts = ReadElfFacts(modules.paths[i]);
    if (facts && facts->exports_mallocx) return modules.paths[i];
  }
  return {};
}

}  // namespace memprof
