#include "cli/symbols/report_symbolizer.h"

#include <algorithm>
#include <filesystem>

#include "core/frame_kind.h"
#include "core/symbolizer/build_id.h"

namespace memprof {
namespace {

std::unique_ptr<Symbolizer> MakeSymbolizerHere(const SymbolOptions& options, bool has_stored) {
  SymbolizerOptions made = MakeSymbolizerOptions(options);
  // The stored notes have theirs.
  if (has_stored) made.packages_of = nullptr;
  return MakeSymbolizer(made);
}

}  // namespace

ReportSymbolizer::ReportSymbolizer(const CaptureContent& capture, const SymbolOptions& options)
    : capture_(capture),
      options_(options),
      has_stored_(!capture.symbols.empty()),
      here_(MakeSymbolizerHere(options, has_stored_)) {}

std::vector<bool> ReportSymbolizer::ModulesOfFrames() const {
  std::vector<bool> used(capture_.snapshot.modules.size());
  for (const SnapshotFrame& frame : capture_.snapshot.frames) {
    if (frame.module < used.size()) used[frame.module] = true;
  }
  return used;
}

std::vector<SourceChain> ReportSymbolizer::Resolve(std::span<const SnapshotModule> modules,
                                                   std::span<const SnapshotFrame> frames) {
  const StoredSymbols& stored = capture_.symbols;
  // What is stored in full needs nothing of this machine.
  std::vector<SourceChain> chains(frames.size());
  std::vector<SnapshotFrame> open;
  std::vector<size_t> open_at;
  for (size_t i = 0; i < frames.size(); ++i) {
    const uint32_t module = frames[i].module;
    const bool complete = has_stored_ && module < modules.size() && stored.notes[module].empty();
    if (complete && !stored.chains[i].empty()) {
      chains[i] = stored.chains[i];
    } else {
      open.push_back(frames[i]);
      open_at.push_back(i);
    }
  }
  std::vector<SourceChain> here = here_->Resolve(modules, open);
  std::vector<bool> from_store(modules.size());
  for (size_t m = 0; has_stored_ && m < modules.size(); ++m) {
    from_store[m] = stored.notes[m].empty() || !here_->NoteOn(modules[m]).empty();
  }
  for (size_t i = 0; i < open.size(); ++i) {
    const bool use_stored = open[i].module < modules.size() && from_store[open[i].module] &&
                            !stored.chains[open_at[i]].empty();
    if (use_stored) {
      chains[open_at[i]] = stored.chains[open_at[i]];
    } else {
      chains[open_at[i]] = std::move(here[i]);
    }
  }
  AddNotes(from_store);
  if (options_.paths.empty()) return chains;
  for (SourceChain& chain : chains) {
    for (SourceFrame& frame : chain) frame.file = options_.paths.Map(frame.file);
  }
  return chains;
}

void ReportSymbolizer::AddNotes(const std::vector<bool>& from_store) {
  const auto& modules = capture_.snapshot.modules;
  const std::vector<bool> used = ModulesOfFrames();
  module_notes_.assign(modules.size(), {});
  for (size_t m = 0; m < modules.size(); ++m) {
    if (!used[m]) continue;
    module_notes_[m] = from_store[m] ? capture_.symbols.notes[m] : here_->NoteOn(modules[m]);
    if (!module_notes_[m].empty()) notes_.push_back(module_notes_[m]);
    const bool to_tell = !modules[m].path.starts_with('[') && !IsOwnModule(modules[m].path);
    std::error_code error;
    if (from_store[m] && to_tell &&
        (!std::filesystem::exists(modules[m].path, error) ||
         BuildIdOfFile(modules[m].path) != modules[m].build_id)) {
      stored_only_.push_back(std::filesystem::path(modules[m].path).filename().string());
    }
  }
}

std::string ReportSymbolizer::NoteOn(const SnapshotModule& module) const {
  const auto& modules = capture_.snapshot.modules;
  const auto at = std::find(modules.begin(), modules.end(), module);
  const auto index = static_cast<size_t>(at - modules.begin());
  return index < module_notes_.size() ? module_notes_[index] : std::string();
}

}  // namespace memprof
