#include "formats/export/exporters.h"

namespace memprof {
namespace {

constexpr Exporter kExporters[] = {
    {"json", ".json", false, ExportJson},
    {"folded", ".folded", false, ExportFolded},
    {"csv", ".csv", false, ExportCsv},
    {"speedscope", ".speedscope.json", false, ExportSpeedscope},
    {"pprof", ".pb.gz", true, ExportPprof},
    {"massif", ".massif", false, ExportMassif},
    {"dhat", ".dhat.json", false, ExportDhat},
};

}  // namespace

std::span<const Exporter> Exporters() { return kExporters; }

const Exporter* FindExporter(std::string_view name) {
  for (const Exporter& exporter : kExporters) {
    if (exporter.name == name) return &exporter;
  }
  return nullptr;
}

}  // namespace memprof
