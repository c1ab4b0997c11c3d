// ReportSymbolizer: names for a report, from what the capture has stored and from the files here.
//
// What is stored wins, so that a capture gives the same report on every machine; but a module that
// lacked something when it was stored is resolved here if nothing lacks here. Then paths are
// mapped.
//
// Thread safety: none. Ownership: `capture` must outlive it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/symbols/symbol_options.h"
#include "core/symbolizer/symbolizer.h"
#include "formats/capture_reader.h"

namespace memprof {

class ReportSymbolizer : public Symbolizer {
 public:
  ReportSymbolizer(const CaptureContent& capture, const SymbolOptions& options);

  // Pre: they are the capture's.
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule> modules,
                                   std::span<const SnapshotFrame> frames) override;
  const std::vector<std::string>& notes() const override { return notes_; }
  std::string NoteOn(const SnapshotModule& module) const override;

  // Modules whose names are the stored ones and whose files aren't here.
  const std::vector<std::string>& stored_only() const { return stored_only_; }

 private:
  std::vector<bool> ModulesOfFrames() const;
  void AddNotes(const std::vector<bool>& from_store);

  const CaptureContent& capture_;
  const SymbolOptions options_;
  const bool has_stored_;
  const std::unique_ptr<Symbolizer> here_;
  std::vector<std::string> notes_;
  std::vector<std::string> module_notes_;  // parallel to the capture's modules
  std::vector<std::string> stored_only_;
};

}  // namespace memprof
