#include "formats/capture/capture_merger.h"

#include <algorithm>
#include <tuple>

#include "formats/capture/capture_checksum.h"
#include "formats/capture/capture_writer.h"

namespace memprof {
namespace {

bool LessIsKnown(const SourceChain& a, const SourceChain& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const SourceFrame& x, const SourceFrame& y) {
        return std::tie(x.function, x.file, x.line) < std::tie(y.function, y.file, y.line);
      });
}

// The identity of a snapshot without a run id: a checksum of its content, never 0.
uint64_t IdOf(const Snapshot& snapshot) {
  if (snapshot.program.run_id != 0 || !snapshot.sources.empty()) return 1;
  return std::max<uint64_t>(SectionChecksum(0, 0, 0, EncodeCapture(Canonical(snapshot))), 1);
}

}  // namespace

Result<void> CaptureMerger::Add(CaptureContent content) {
  const uint64_t id = IdOf(content.snapshot);
  StoredSymbols symbols = std::move(content.symbols);
  Snapshot places;  // the modules and frames that the symbols belong to
  if (!symbols.empty()) {
    places.modules = content.snapshot.modules;
    places.frames = content.snapshot.frames;
  }
  auto added = merger_.Add(std::move(content.snapshot), id);
  if (!added) return added;
  if (!symbols.empty()) AddSymbols(places, symbols);
  first_ = {};
  if (++added_ == 1) first_ = {std::move(places), std::move(symbols), {}};
  return added;
}

void CaptureMerger::AddSymbols(const Snapshot& snapshot, const StoredSymbols& symbols) {
  std::vector<uint32_t> modules;
  for (size_t i = 0; i < snapshot.modules.size(); ++i) {
    const auto next = static_cast<uint32_t>(modules_.size());
    modules.push_back(modules_.emplace(MergeKey(snapshot.modules[i]), next).first->second);
    std::string& note = notes_[modules.back()];
    note = std::max(note, symbols.notes[i]);
  }
  for (size_t i = 0; i < snapshot.frames.size(); ++i) {
    const SnapshotFrame& frame = snapshot.frames[i];
    if (frame.module == kNoModule || symbols.chains[i].empty()) continue;
    SourceChain& chain = chains_[{modules[frame.module], frame.offset}];
    if (LessIsKnown(chain, symbols.chains[i])) chain = symbols.chains[i];
  }
}

MergedCapture CaptureMerger::Take() {
  MergedCapture merge = {merger_.Take(), {}};
  if (modules_.empty()) return merge;
  const Snapshot& snapshot = *merge.snapshot;
  if (added_ == 1 && snapshot.modules == first_.snapshot.modules &&
      snapshot.frames == first_.snapshot.frames) {
    merge.symbols = std::move(first_.symbols);
    return merge;
  }
  std::vector<const uint32_t*> modules;  // null: the module has no symbols
  for (const SnapshotModule& module : snapshot.modules) {
    const auto at = modules_.find(MergeKey(module));
    modules.push_back(at == modules_.end() ? nullptr : &at->second);
    merge.symbols.notes.push_back(modules.back() == nullptr ? "" : notes_[*modules.back()]);
  }
  for (const SnapshotFrame& frame : snapshot.frames) {
    merge.symbols.chains.emplace_back();
    if (frame.module == kNoModule || modules[frame.module] == nullptr) continue;
    const auto at = chains_.find({*modules[frame.module], frame.offset});
    if (at != chains_.end()) merge.symbols.chains.back() = at->second;
  }
  return merge;
}

Result<std::string> EncodeMerge(const MergedCapture& merge) {
  std::string bytes = EncodeCapture(merge.snapshot);
  if (merge.symbols.empty()) return bytes;
  return WithSymbols(bytes, merge.symbols);
}

}  // namespace memprof
