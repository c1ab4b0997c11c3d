#include "cli/symbols/report_symbolizer.h"

#include <algorithm>
#include <filesystem>

#include "core/frame_kind.h"
#include "core/symbolizer/build_id.h"

namespace memprof {
namespace {

std::unique_ptr<Symbolizer> MakeSymbolizerHere(const SymbolOptions& options, bool has_stored) {
  SymbolizerOptions made = MakeSymbolizerOptions(options);
  // The stored notes name packages already.
  if (has_stored) made.packages_of = nullptr;
  return MakeSymbolizer(made);
}

// Returns for each module whether it has a frame.
std::vector<bool> ModulesOf(std::span<const SnapshotFrame> frames, size_t modules) {
  std::vector<bool> used(modules);
  for (const SnapshotFrame& frame : frames) {
    if (frame.module < used.size()) used[frame.module] = true;
  }
  return used;
}

}  // namespace

ReportSymbolizer::ReportSymbolizer(const StoredSymbols& stored, const SymbolOptions& options)
    : stored_(stored),
      options_(options),
      has_stored_(!stored_.empty()),
      here_(MakeSymbolizerHere(options, has_stored_)) {}

std::vector<SourceChain> ReportSymbolizer::Resolve(std::span<const SnapshotModule> modules,
                                                   std::span<const SnapshotFrame> frames) {
  // Modules that are stored in full need nothing from this machine.
  std::vector<SourceChain> chains(frames.size());
  std::vector<SnapshotFrame> open;
  std::vector<size_t> open_at;
  for (size_t i = 0; i < frames.size(); ++i) {
    const uint32_t module = frames[i].module;
    const bool complete = has_stored_ && module < modules.size() && stored_.notes[module].empty();
    if (complete && !stored_.chains[i].empty()) {
      chains[i] = stored_.chains[i];
    } else {
      open.push_back(frames[i]);
      open_at.push_back(i);
    }
  }
  std::vector<SourceChain> here = here_->Resolve(modules, open);
  std::vector<bool> from_store(modules.size());
  for (size_t m = 0; has_stored_ && m < modules.size(); ++m) {
    from_store[m] = stored_.notes[m].empty() || !here_->NoteOn(modules[m]).empty();
  }
  for (size_t i = 0; i < open.size(); ++i) {
    const bool use_stored = open[i].module < modules.size() && from_store[open[i].module] &&
                            !stored_.chains[open_at[i]].empty();
    if (use_stored) {
      chains[open_at[i]] = stored_.chains[open_at[i]];
    } else {
      chains[open_at[i]] = std::move(here[i]);
    }
  }
  AddNotes(modules, frames, from_store);
  if (options_.paths.empty()) return chains;
  for (SourceChain& chain : chains) {
    for (SourceFrame& frame : chain) frame.file = options_.paths.Map(frame.file);
  }
  return chains;
}

void ReportSymbolizer::AddNotes(std::span<const SnapshotModule> modules,
                                std::span<const SnapshotFrame> frames,
                                const std::vector<bool>& from_store) {
  const std::vector<bool> used = ModulesOf(frames, modules.size());
  module_notes_.clear();
  for (size_t m = 0; m < modules.size(); ++m) {
    if (!used[m]) continue;
    std::string note = from_store[m] ? stored_.notes[m] : here_->NoteOn(modules[m]);
    if (!note.empty()) {
      notes_.push_back(note);
      module_notes_.emplace_back(modules[m], std::move(note));
    }
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
  const auto at = std::find_if(module_notes_.begin(), module_notes_.end(),
                               [&](const auto& noted) { return noted.first == module; });
  return at == module_notes_.end() ? std::string() : at->second;
}

}  // namespace memprof
