#include "cli/doctor/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/doctor/host_checks.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/loaded_modules.h"
#include "cli/preflight/preflight.h"
#include "cli/symbols/debug_packages.h"
#include "core/symbolizer/module_symbols.h"

namespace memprof {
namespace {

constexpr std::pair<const char*, const char*> kAllocators[] = {
    {"libjemalloc.so", "jemalloc"},
    {"libtcmalloc", "tcmalloc"},
    {"libmimalloc", "mimalloc"},
};

std::string Row(const std::string& what, const std::string& said) {
  return fmt::format("  {:<10} {}\n", what, said);
}

std::string AllocatorOf(const LoadedModules& modules) {
  for (const std::string& path : modules.paths) {
    const std::string file = std::filesystem::path(path).filename().string();
    for (const auto& [prefix, name] : kAllocators) {
      if (file.starts_with(prefix)) return fmt::format("{} ({})", name, path);
    }
  }
  return "glibc's";
}

// The parts that reports will lack for a module; empty: none.
std::string LackOf(const std::string& path) {
  const auto facts = ReadElfFacts(path);
  if (!facts) return "can't be read: addresses only";
  const std::string no_id = facts->build_id.empty() ? "; no build-id to know it by" : "";
  Downloads none(std::chrono::milliseconds(0), nullptr);
  std::error_code error;  // then the path is empty, and nothing is found
  const std::string absolute = std::filesystem::absolute(path, error).string();
  switch (ModuleSymbols({absolute, facts->build_id}, {}, none).lack()) {
    case Lack::kNothing:
      return no_id.empty() ? no_id : no_id.substr(2);
    case Lack::kFile:
    case Lack::kNotRead:
    case Lack::kOtherFile:
      return "can't be read: addresses only";
    case Lack::kSymbols:
      return "no symbols: addresses only" + no_id;
    case Lack::kDebugInfo:
      return "no debug info: functions, but no files and lines" + no_id;
    case Lack::kCompression:
      return "debug info not compressed with zlib: functions, but no files and lines" + no_id;
    case Lack::kSplitUnits:
      return "debug info in .dwo files that are gone, or in a .dwp: no inlined functions" + no_id;
    case Lack::kAltFile:
      return "debug info that it shares with others is gone: some functions have no names" + no_id;
    case Lack::kDamaged:
      return "damaged debug info: functions, but no files and lines" + no_id;
  }
  return {};
}

std::string ModulesText(const LoadedModules& modules) {
  size_t width = 0;
  for (const std::string& path : modules.paths) width = std::max(width, path.size());
  std::string rows;
  std::vector<std::string> lacking;
  for (const std::string& path : modules.paths) {
    const std::string lack = LackOf(path);
    rows += fmt::format("    {:<{}}  {}\n", path, width, lack.empty() ? "files and lines" : lack);
    if (!lack.empty()) lacking.push_back(path);
  }
  std::string text =
      Row("modules", fmt::format("{}, and what reports can tell of them", modules.paths.size()));
  text += rows;
  for (const std::string& name : modules.missing) {
    text += fmt::format("    {}  not found by the loader: the program won't start\n", name);
  }
  if (lacking.empty()) return text;
  std::string packages;
  for (const std::string& package : DebugPackagesOf(lacking)) packages += " " + package;
  if (!packages.empty()) {
    text +=
        Row("install", "for files and lines (-dbgsym: from Debian's debug archive):" + packages);
  }
  return text + Row(packages.empty() ? "to do" : "or",
                    "build your own modules with -g; for others set DEBUGINFOD_URLS");
}

}  // namespace

Diagnosis DiagnoseHost() {
  Diagnosis diagnosis;
  diagnosis.text = "memprof on this machine\n";
  for (const HostCheck& check : CheckHost()) {
    diagnosis.text += Row(check.what, (check.fine     ? ""
                                       : check.needed ? "MISSING: "
                                                      : "note: ") +
                                          check.said);
    diagnosis.fine = diagnosis.fine && (check.fine || !check.needed);
  }
  return diagnosis;
}

Diagnosis DiagnoseProgram(const std::vector<std::string>& command, const std::string& search_path) {
  Diagnosis diagnosis;
  diagnosis.text = command[0] + "\n";
  const auto preflight = CheckProgram(command, search_path);
  if (!preflight) {
    diagnosis.fine = false;
    diagnosis.text += Row("verdict", "can't be profiled: " + preflight.error().message);
    return diagnosis;
  }
  const std::string& runs = preflight->Runs();
  const bool started = runs == preflight->path;
  diagnosis.text += Row("runs", started                     ? runs
                                : preflight->loaded.empty() ? preflight->path + ", by " + runs
                                                            : runs + ", by " + preflight->path);
  diagnosis.text += Row("verdict", "can be profiled");
  for (const std::string& warning : preflight->warnings) diagnosis.text += Row("but", warning);
  if (preflight->loader.empty()) return diagnosis;  // no ELF file: exec finds an interpreter
  const LoadedModules modules =
      ListModules(preflight->Runs(), preflight->loader, preflight->loader_options);
  diagnosis.fine = modules.missing.empty();
  diagnosis.text += Row("malloc", AllocatorOf(modules));
  diagnosis.text += ModulesText(modules);
  return diagnosis;
}

}  // namespace memprof
