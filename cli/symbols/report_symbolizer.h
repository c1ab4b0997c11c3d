// ReportSymbolizer: names for a report, from those stored in the capture and from the files here.
//
// Stored names win, so that a capture gives the same report on every machine. The exception is a
// module that lacked something when its names were stored: it is resolved here if nothing is
// missing here. Then paths are mapped.
//
// Thread safety: none. Ownership: the stored names must outlive it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/symbols/symbol_options.h"
#include "core/symbolizer/symbolizer.h"
#include "formats/capture/capture_symbols.h"

namespace memprof {

class ReportSymbolizer : public Symbolizer {
 public:
  // `stored`: the names that the capture has.
  ReportSymbolizer(const StoredSymbols& stored, const SymbolOptions& options);

  // Pre: the modules and frames are the capture's.
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule> modules,
                                   std::span<const SnapshotFrame> frames) override;
  const std::vector<std::string>& notes() const override { return notes_; }
  std::string NoteOn(const SnapshotModule& module) const override;
  std::string ShownPath(const std::string& file) const override {
    return options_.paths.empty() ? file : options_.paths.Map(file);
  }

  // Modules with stored names whose files are missing here.
  const std::vector<std::string>& stored_only() const { return stored_only_; }

 private:
  void AddNotes(std::span<const SnapshotModule> modules, std::span<const SnapshotFrame> frames,
                const std::vector<bool>& from_store);

  const StoredSymbols& stored_;
  const SymbolOptions options_;
  const bool has_stored_;
  const std::unique_ptr<Symbolizer> here_;
  std::vector<std::string> notes_;
  // of modules that lack something
  std::vector<std::pair<SnapshotModule, std::string>> module_notes_;
  std::vector<std::string> stored_only_;
};

}  // namespace memprof
