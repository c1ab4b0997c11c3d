// NamedMomentTaker: takes the named moments of one image of the program on request. A thread reads
// the region while the program goes on.
//
// At most kMaxNamedMoments are kept. When there are more, the oldest automatic one (of a schedule)
// is dropped and counted. If there is no automatic one, the new one is refused and counted.
//
// Memory: a figure for each site that is live, per named moment; equal ones share them.
// Thread safety: one owner. Failure: reported in the outcome.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include "core/region/region_history.h"
#include "core/region/region_place.h"
#include "core/result.h"

namespace memprof {

struct NamedMomentRequest {
  std::string name;        // empty: named after its time
  bool automatic = false;  // may be dropped for later ones
  // descriptor on which somebody waits for the outcome; owned by the requester
  int answer_fd = -1;
};

class NamedMomentTaker {
 public:
  // The region's descriptor is duplicated. `start` is time 0.
  NamedMomentTaker(const RegionPlace& region, std::chrono::steady_clock::time_point start);
  NamedMomentTaker(const NamedMomentTaker&) = delete;
  ~NamedMomentTaker();

  void Ask(NamedMomentRequest request);
  // A request is not done yet: call Collect soon.
  bool Busy() const { return !asked_.empty(); }

  struct Outcome {
    NamedMomentRequest request;
    Result<NamedMoment> taken;
  };
  // The outcomes since the last call. `wait`: waits for all requests.
  std::vector<Outcome> Collect(bool wait);

  void AddTo(RegionHistory& history) const;
  std::vector<std::string> Names() const;

 private:
  void StartReading();
  Result<NamedMoment> Keep(const NamedMomentRequest& request, Result<RegionMoment> moment);

  struct Kept {
    NamedRegionMoment named;
    bool automatic;
  };

  const RegionPlace region_;
  const std::chrono::steady_clock::time_point start_;
  std::deque<NamedMomentRequest> asked_;  // the first is being read
  std::future<Result<RegionMoment>> reading_;
  std::vector<Kept> kept_;
  uint64_t left_out_ = 0;
};

// The name of a moment for which nobody gave one: "10m", "1h30m", "1m30s" for 90 s, "250ms". From ten
// seconds on in whole seconds.
std::string NameOfTime(uint64_t time_ms);

}  // namespace memprof
