#include "cli/supervisor/images/named_moment_schedule.h"

#include <utility>

#include "cli/supervisor/images/named_moment_taker.h"

namespace memprof {

std::vector<std::string> NamedMomentSchedule::Due(uint64_t now_ms,
                                                  std::optional<uint64_t> rss_bytes) {
  std::vector<std::string> due;
  if (options_.every_ms != 0 && now_ms / options_.every_ms > periods_) {
    periods_ = now_ms / options_.every_ms;
    due.push_back(NameOfTime(periods_ * options_.every_ms));
  }
  if (options_.at_rss_bytes != 0 && rss_bytes) {
    if (!above_ && *rss_bytes >= options_.at_rss_bytes)
      due.push_back("rss-" + options_.at_rss_name);
    // Between half and the limit the state stays, so that a heap around the limit gives a single
    // named moment.
    if (*rss_bytes >= options_.at_rss_bytes) above_ = true;
    if (*rss_bytes < options_.at_rss_bytes / 2) above_ = false;
  }
  return due;
}

std::optional<uint64_t> NamedMomentSchedule::NextMs() const {
  if (options_.every_ms == 0) return std::nullopt;
  return (periods_ + 1) * options_.every_ms;
}

}  // namespace memprof
