// pprof's profile.proto, compressed by gzip, for `pprof` and `go tool pprof`. A sample has objects and
// bytes of Go's two figures, in Go's order, so that what reads a Go program's heap profile reads this
// one; then those of the figures that only memprof has.

#include <vector>

#include "formats/export/exporters.h"
#include "formats/export/pprof_profile.h"

namespace memprof {
namespace {

// "In use" is what was live when the capture was read, or at the moment that was asked for.
std::vector<PprofFigure> FiguresOf(const Profile& profile) {
  std::vector<PprofFigure> figures = {
      {"alloc", &ProfileSite::total},
      {"inuse", profile.chosen ? &ProfileSite::peak : &ProfileSite::leaked},
      {"peak", &ProfileSite::peak},
      {"leaked", &ProfileSite::leaked}};
  if (profile.tracker.temporary_threshold != 0) {
    figures.push_back({"temporary", &ProfileSite::temporary});
  }
  return figures;
}

}  // namespace

std::string ExportPprof(const Profile& profile, const ExportOptions& options) {
  PprofProfile pprof(FiguresOf(profile), true);
  pprof.Add(profile);
  const char* names[] = {"peak_space", "leaked_space", "alloc_space"};
  PprofFacts facts;
  facts.time_ns = profile.program.start_unix_ms * 1'000'000;
  facts.duration_ns = profile.program.duration_ms * 1'000'000;
  if (profile.tracker.sample_bytes != 0) {
    facts.period = profile.tracker.sample_bytes;
    facts.comment = SamplingText(profile.tracker.sample_bytes);
  }
  facts.default_type = names[static_cast<size_t>(options.figure)];
  return pprof.Build(facts);
}

}  // namespace memprof
