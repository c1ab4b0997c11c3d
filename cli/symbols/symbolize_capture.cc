#include "cli/symbols/symbolize_capture.h"

#include <fmt/format.h>

#include "cli/symbols/report_symbolizer.h"
#include "formats/atomic_file.h"
#include "formats/capture/capture_reader.h"

namespace memprof {

Result<SymbolizedCapture> Symbolize(const std::string& capture, const SymbolOptions& options) {
  auto content = DecodeCapture(capture);
  if (!content) return tl::unexpected<Error>(content.error());
  if (!content->damage.empty()) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("damaged: section '{}': {}; it is left as it is",
                            content->damage[0].section, content->damage[0].what));
  }
  SymbolOptions named = options;
  named.names_packages = true;  // the notes are stored
  ReportSymbolizer symbolizer(content->symbols, named);
  const Snapshot& snapshot = content->snapshot;
  StoredSymbols symbols;
  symbols.chains = symbolizer.Resolve(snapshot.modules, snapshot.frames);
  for (size_t i = 0; i < snapshot.frames.size(); ++i) {
    // A row that stands for no address has the same name everywhere.
    if (snapshot.frames[i].module == kNoModule) symbols.chains[i].clear();
  }
  for (const SnapshotModule& module : snapshot.modules) {
    symbols.notes.push_back(symbolizer.NoteOn(module));
  }
  auto bytes = WithSymbols(capture, symbols);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  return SymbolizedCapture{std::move(*bytes), symbolizer.notes()};
}

Result<SymbolizedCapture> SymbolizeFile(const std::string& path, const SymbolOptions& options) {
  const auto capture = ReadCaptureFile(path);
  if (!capture) return tl::unexpected<Error>(capture.error());
  auto symbolized = Symbolize(*capture, options);
  if (!symbolized) return symbolized;
  if (const auto written = WriteFileAtomically(path, symbolized->bytes, Readers::kOwner);
      !written) {
    return tl::unexpected<Error>(written.error());
  }
  return symbolized;
}

}  // namespace memprof
