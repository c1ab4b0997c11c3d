// SnapshotSchedule: when an image's snapshots are due that nobody asks for one by one: every so
// often, and when the resident memory crosses a limit (again after it was below half of it).
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memprof {

struct SnapshotScheduleOptions {
  uint64_t every_ms = 0;  // 0: never
  uint64_t at_rss_bytes = 0;
  std::string at_rss_name;  // of the limit, as the user wrote it
};

class SnapshotSchedule {
 public:
  explicit SnapshotSchedule(SnapshotScheduleOptions options) : options_(std::move(options)) {}

  // The names of the snapshots that are due now; several periods that went by are one.
  std::vector<std::string> Due(uint64_t now_ms, std::optional<uint64_t> rss_bytes);

  // When to ask next, for the periods; nothing: at no time of its own.
  std::optional<uint64_t> NextMs() const;

 private:
  SnapshotScheduleOptions options_;
  uint64_t periods_ = 0;  // that are over
  bool above_ = false;
};

}  // namespace memprof
