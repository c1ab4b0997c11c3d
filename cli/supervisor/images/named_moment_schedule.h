// NamedMomentSchedule: when an image's automatic named moments are due: periodically, and when the
// resident memory crosses a limit (again only after it was below half of it).
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memprof {

struct NamedMomentScheduleOptions {
  uint64_t every_ms = 0;  // 0: never
  uint64_t at_rss_bytes = 0;
  std::string at_rss_name;  // the limit, as the user wrote it
};

class NamedMomentSchedule {
 public:
  explicit NamedMomentSchedule(NamedMomentScheduleOptions options) : options_(std::move(options)) {}

  // The names of the named moments that are due now. Several missed periods give one.
  std::vector<std::string> Due(uint64_t now_ms, std::optional<uint64_t> rss_bytes);

  // When to ask next because of the period; unset if there is none.
  std::optional<uint64_t> NextMs() const;

 private:
  NamedMomentScheduleOptions options_;
  uint64_t periods_ = 0;  // number of periods that are over
  bool above_ = false;
};

}  // namespace memprof
