#include "cli/supervisor/images/checkpoint_writer.h"

#include <chrono>
#include <memory>
#include <utility>

#include "cli/basics/background_work.h"
#include "core/region/region_reader.h"
#include "formats/atomic_file.h"
#include "formats/capture/capture_writer.h"
#include "formats/export/prometheus_metrics.h"

namespace memprof {

void CheckpointWriter::Start(const std::string& file, const RegionPlace& region,
                             SnapshotProgram program, RegionHistory history,
                             const std::string& metrics) {
  written_ = InBackground([file, region, program = std::move(program), history = std::move(history),
                           metrics]() -> Written {
    std::string no_metrics;
    const auto snapshot = WriteRegion(file, region, program, history, metrics, no_metrics);
    if (!snapshot) return {tl::unexpected<Error>(snapshot.error()), no_metrics};
    return {{}, no_metrics};
  });
}

bool CheckpointWriter::Busy() const {
  return written_.valid() &&
         written_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

Result<void> CheckpointWriter::Finish() {
  if (!written_.valid()) return {};
  Written written = written_.get();
  no_metrics_ = std::move(written.no_metrics);
  return std::move(written.capture);
}

Result<CanonicalSnapshot> WriteRegion(const std::string& file, const RegionPlace& region,
                                      const SnapshotProgram& program, const RegionHistory& history,
                                      const std::string& metrics, std::string& no_metrics) {
  auto snapshot = ReadRegion(region, program, history);
  if (!snapshot) return snapshot;
  const auto written = WriteCaptureFile(file, *snapshot);
  if (!metrics.empty()) {
    const auto told = WriteFileAtomically(metrics, MetricsText(*snapshot), Readers::kByUmask);
    if (!told) no_metrics = told.error().message;
  }
  if (!written) return tl::unexpected<Error>(written.error());
  return snapshot;
}

}  // namespace memprof
