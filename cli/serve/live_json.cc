#include "cli/serve/live_json.h"

#include <nlohmann/json.hpp>

#include "cli/http/base64.h"
#include "core/snapshot/canonical_snapshot.h"
#include "formats/capture/capture_merger.h"

namespace memprof {

std::string LiveJsonOf(const ServedRunLook& run) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", 1},
               {"pid", run.program},
               {"supervisor", run.supervisor},
               {"capture", run.capture},
               {"living", run.living},
               {"ended", run.ended},
               {"processes", Json::array()}};
  for (const ServedProcess& process : run.processes) {
    // In the order that the stored names have.
    CaptureMerger alone;
    CaptureContent content;
    content.snapshot = process.snapshot;
    content.symbols = process.symbols;
    if (!alone.Add(std::move(content))) continue;
    const auto figures = EncodeMerge(alone.Take());
    if (!figures) continue;
    json["processes"].push_back({{"pid", process.pid},
                                 {"program", process.program},
                                 {"start_unix_ms", process.snapshot.program.start_unix_ms},
                                 {"rss_bytes", process.rss_bytes},
                                 {"figures", ToBase64(*figures)}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memprof
