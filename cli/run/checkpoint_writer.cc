#include "cli/run/checkpoint_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "core/region_reader.h"
#include "formats/capture_writer.h"

namespace memprof {

void CheckpointWriter::Start(const std::string& file, int region_fd, SnapshotProgram program,
                             RegionHistory history) {
  const int own_fd = fcntl(region_fd, F_DUPFD_CLOEXEC, 0);
  auto write = [file, own_fd, program = std::move(program),
                history = std::move(history)]() -> Result<void> {
    if (own_fd < 0) return Fail(ErrorKind::kIo, "too many open files");
    const auto snapshot = WriteRegion(file, own_fd, program, history);
    close(own_fd);
    if (!snapshot) return tl::unexpected<Error>(snapshot.error());
    return {};
  };
  try {
    written_ = std::async(std::launch::async, write);
  } catch (const std::system_error&) {  // no thread to be had: then the loop does wait
    std::promise<Result<void>> done;
    written_ = done.get_future();
    done.set_value(write());
  }
}

bool CheckpointWriter::Busy() const {
  return written_.valid() &&
         written_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

Result<void> CheckpointWriter::Finish() {
  if (!written_.valid()) return {};
  return written_.get();
}

Result<Snapshot> WriteRegion(const std::string& file, int region_fd, const SnapshotProgram& program,
                             const RegionHistory& history) {
  auto snapshot = ReadRegion(region_fd, program, history);
  if (!snapshot) return snapshot;
  if (auto written = WriteCaptureFile(file, *snapshot); !written) {
    return tl::unexpected<Error>(written.error());
  }
  return snapshot;
}

}  // namespace memprof
