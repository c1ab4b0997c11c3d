#include "core/symbolizer/symbolizer.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "core/symbolizer/module_symbols.h"
#include "core/symbolizer/symbol_notes.h"

namespace memprof {
namespace {

std::string NameOfRow(uint64_t offset) {
  switch (offset) {
    case kPcTruncated:
      return "[truncated]";
    case kPcTablesFull:
      return "[tables full]";
    case kPcNoStack:
      return "[no stack]";
    case kPcIncomplete:
      return "[incomplete]";
    case kPcInherited:
      return "[inherited at fork]";
    default:
      return fmt::format("{:#x}", offset);
  }
}

class LocalSymbolizer : public Symbolizer {
 public:
  explicit LocalSymbolizer(SymbolizerOptions options)
      : options_(std::move(options)), downloads_(options_.download_limit, DownloadProgressOf()) {}

  std::vector<SourceChain> Resolve(std::span<const SnapshotModule> modules,
                                   std::span<const SnapshotFrame> frames) override {
    std::vector<SourceChain> chains;
    chains.reserve(frames.size());
    for (const SnapshotFrame& frame : frames) {
      if (frame.module >= modules.size()) {
        chains.push_back({{NameOfRow(frame.offset), "", 0, false}});
        continue;
      }
      const SnapshotModule& module = modules[frame.module];
      // The only place that turns the return address into one inside the call.
      chains.push_back(SymbolsOf(module).Resolve(frame.offset - 1));
      if (options_.progress && chains.size() % kFramesBetweenProgress == 0) {
        options_.progress({NameOf(module), false, chains.size(), frames.size()});
      }
    }
    AddNotes();
    return chains;
  }

  const std::vector<std::string>& notes() const override { return notes_; }

  std::string NoteOn(const SnapshotModule& module) const override {
    const auto note = note_of_.find({module.path, module.build_id});
    return note != note_of_.end() ? note->second : std::string();
  }

 private:
  static constexpr size_t kFramesBetweenProgress = 256;

  static std::string NameOf(const SnapshotModule& module) {
    return std::filesystem::path(module.path).filename().string();
  }

  DownloadProgress DownloadProgressOf() const {
    if (!options_.progress) return {};
    return [this](const std::string& module, uint64_t bytes, uint64_t total) {
      options_.progress({module, true, bytes, total});
    };
  }

  ModuleSymbols& SymbolsOf(const SnapshotModule& module) {
    auto& symbols = modules_[{module.path, module.build_id}];
    if (symbols == nullptr) {
      if (options_.progress) options_.progress({NameOf(module), false, 0, 0});
      symbols = std::make_unique<ModuleSymbols>(module, options_, downloads_);
      if (symbols->lack() != Lack::kNothing) lacking_.push_back({module, symbols.get()});
    }
    return *symbols;
  }

  // Adds notes on the modules that were asked for since the last call. Packages are looked up
  // together, because that starts a process.
  void AddNotes() {
    std::vector<std::string> files;
    for (const auto& [module, symbols] : lacking_) {
      if (IsInPackages(symbols->lack())) files.push_back(module.path);
    }
    std::vector<std::string> packages;
    if (options_.packages_of && !files.empty()) packages = options_.packages_of(files);
    packages.resize(files.size());
    size_t next = 0;
    for (const auto& [module, symbols] : lacking_) {
      const std::string package = IsInPackages(symbols->lack()) ? packages[next++] : std::string();
      std::string note = SymbolNote(module, symbols->lack(), symbols->details(), package);
      if (note.empty()) continue;
      note_of_[{module.path, module.build_id}] = note;
      notes_.push_back(std::move(note));
    }
    lacking_.clear();
  }

  SymbolizerOptions options_;
  Downloads downloads_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ModuleSymbols>> modules_;
  // those without a note yet
  std::vector<std::pair<SnapshotModule, const ModuleSymbols*>> lacking_;
  std::vector<std::string> notes_;
  std::map<std::pair<std::string, std::string>, std::string> note_of_;  // by path and build-id
};

}  // namespace

std::unique_ptr<Symbolizer> MakeSymbolizer(const SymbolizerOptions& options) {
  return std::make_unique<LocalSymbolizer>(options);
}

}  // namespace memprof
