#include "core/symbolizer/symbol_notes.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/frame_kind.h"
#include "core/symbolizer/downloads.h"

namespace memprof {
namespace {

// Suggests a package or a server with the debug info; `else_do` is the way without either.
std::string HowToGetDebugInfo(const LackDetails& details, const std::string& package,
                              const std::string& else_do) {
  std::string servers = "set DEBUGINFOD_URLS";
  if (details.late) {
    servers = "give its download more time (--download-limit)";
  } else if (details.asked) {
    servers.clear();
  } else if (Downloads::Wanted() && !Downloads::Possible()) {
    servers = "install libdebuginfod1 for DEBUGINFOD_URLS";
  }
  std::string text = package.empty() ? else_do : "install " + package;
  if (!servers.empty()) text += ", or " + servers;
  return text;
}

std::string WhatLacks(const SnapshotModule& module, Lack lack, const LackDetails& details,
                      const std::string& package) {
  // Says too if servers were asked in vain.
  const char* in_vain = details.late    ? " (a download took too long)"
                        : details.asked ? " (no server of DEBUGINFOD_URLS gave any)"
                                        : "";
  switch (lack) {
    case Lack::kFile:
      return fmt::format(
          "the file is not here{}; report on the machine of the run, copy it to {}, or let memprof "
          "symbolize store its names there",
          in_vain, module.path);
    case Lack::kNotRead:
      return "not read, as --no-binaries says";
    case Lack::kOtherFile:
      return fmt::format(
          "the file here is another build than the one that ran (build-id {}){}; its addresses are "
          "not guessed: put the one that ran back",
          module.build_id.empty() ? "none" : module.build_id, in_vain);
    case Lack::kSymbols:
      return fmt::format("no symbols{}; {}", in_vain,
                         HowToGetDebugInfo(details, package, "keep an unstripped copy of it"));
    case Lack::kDebugInfo:
      return fmt::format("no debug info, so no files and lines{}; {}", in_vain,
                         HowToGetDebugInfo(details, package, "build it with -g"));
    case Lack::kCompression:
      return fmt::format(
          "its debug info is not compressed with zlib, the one way that is read, so no files and "
          "lines; run objcopy --decompress-debug-sections {}",
          details.file);
    case Lack::kSplitUnits:
      if (details.packed) {
        return fmt::format(
            "its debug info is in {}, which is not read, so lines but no inlined functions; keep "
            "the .dwo files where they were built",
            details.file);
      }
      return fmt::format(
          "lines but no inlined functions of {} of its files, whose .dwo files are gone; put {} "
          "back{}",
          details.units, details.file, details.units > 1 ? ", and so on" : "");
    case Lack::kAltFile:
      return fmt::format("a part of its debug info is in {}, which is not here; {}", details.file,
                         HowToGetDebugInfo(details, package, "put it there"));
    case Lack::kDamaged:
      return fmt::format(
          "its debug info in {} is damaged (it ends within a name), so no files and lines; "
          "build or install it anew",
          details.file);
    case Lack::kNothing:
      break;
  }
  return {};
}

}  // namespace

bool IsInPackages(Lack lack) {
  return lack == Lack::kSymbols || lack == Lack::kDebugInfo || lack == Lack::kAltFile;
}

std::string SymbolNote(const SnapshotModule& module, Lack lack, const LackDetails& details,
                       const std::string& package) {
  if (lack == Lack::kNothing || module.path == "[vdso]" || IsOwnModule(module.path)) return {};
  return std::filesystem::path(module.path).filename().string() + ": " +
         WhatLacks(module, lack, details, package);
}

}  // namespace memprof
