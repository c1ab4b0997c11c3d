#include "core/symbolizer.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "core/symbolizer/module_symbols.h"

namespace memprof {
namespace {

std::string RowName(uint64_t offset) {
  switch (offset) {
    case kPcTruncated:
      return "[truncated]";
    case kPcTablesFull:
      return "[tables full]";
    case kPcNoStack:
      return "[no stack]";
    case kPcIncomplete:
      return "[incomplete]";
    default:
      return fmt::format("{:#x}", offset);
  }
}

std::string NoteOn(const SnapshotModule& module, Lack lack) {
  const std::string name = std::filesystem::path(module.path).filename().string();
  switch (lack) {
    case Lack::kFile:
      if (module.path == "[vdso]") return {};
      return fmt::format(
          "{}: the file is not here; report on the machine of the run, or copy it "
          "to {}",
          name, module.path);
    case Lack::kOtherFile:
      return fmt::format(
          "{}: the file here is another build than the one that ran (build-id {}); "
          "its addresses are not guessed",
          name, module.build_id.empty() ? "none" : module.build_id);
    case Lack::kSymbols:
      return fmt::format(
          "{}: no symbols; install its -dbgsym or -dbg package, or set "
          "DEBUGINFOD_URLS",
          name);
    case Lack::kDebugInfo:
      return fmt::format(
          "{}: no debug info, so no files and lines; install its -dbgsym or -dbg "
          "package, or build it with -g",
          name);
    case Lack::kNothing:
      break;
  }
  return {};
}

class LocalSymbolizer : public Symbolizer {
 public:
  explicit LocalSymbolizer(SymbolizerOptions options) : options_(std::move(options)) {}

  std::vector<SourceChain> Resolve(std::span<const SnapshotModule> modules,
                                   std::span<const SnapshotFrame> frames) override {
    std::vector<SourceChain> chains;
    for (const SnapshotFrame& frame : frames) {
      if (frame.module >= modules.size()) {
        chains.push_back({{RowName(frame.offset), "", 0, false}});
      } else {
        // The one place: from the return address to the call before it.
        chains.push_back(ModuleOf(modules[frame.module]).Resolve(frame.offset - 1));
      }
    }
    return chains;
  }

  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  ModuleSymbols& ModuleOf(const SnapshotModule& module) {
    auto& symbols = modules_[{module.path, module.build_id}];
    if (symbols == nullptr) {
      symbols = std::make_unique<ModuleSymbols>(module, options_);
      std::string note = NoteOn(module, symbols->lack());
      if (!note.empty()) notes_.push_back(std::move(note));
    }
    return *symbols;
  }

  SymbolizerOptions options_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ModuleSymbols>> modules_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<Symbolizer> MakeSymbolizer(const SymbolizerOptions& options) {
  return std::make_unique<LocalSymbolizer>(options);
}

}  // namespace memprof
