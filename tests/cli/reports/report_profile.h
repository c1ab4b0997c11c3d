// The profile for the tests of the reports: small, and every figure is different.
#pragma once

#include "tests/cli/web/profile_builder.h"

namespace memprof {

inline TestFrame System(const char* function) {
  return {function, "", 0, "/lib/x86_64-linux-gnu/libc.so.6"};
}

// peak: 1000 + 500 + 300 + 200 = 2000; leaked: 400 + 300 + 200 = 900.
inline Profile ReportProfile() {
  ProfileBuilder b("demo");
  const TestFrame start = System("__libc_start_main");
  b.Site({start, {"main", "/src/demo/main.cc", 10}, {"Load", "/src/demo/load.cc", 20}},
         {{1000, 10}, {0, 0}, {5000, 50}});
  // Below plumbing: the place is Load's caller of it.
  b.Site({start,
          {"main", "/src/demo/main.cc", 11},
          {"Load", "/src/demo/load.cc", 21},
          {"std::vector<char>::reserve(unsigned long)", "/usr/include/c++/12/vector.tcc", 70},
          {"operator new(unsigned long)", "", 0, "/usr/lib/libstdc++.so.6"}},
         {{500, 5}, {400, 4}, {600, 6}});
  b.Site({start, {"main", "/src/demo/main.cc", 12}}, {{300, 1}, {300, 1}, {300, 1}});
  b.Site({start, {"main", "/src/demo/main.cc", 13}}, {{0, 0}, {0, 0}, {7000, 7}});
  b.Site({System("_dl_init"), System("call_init")}, {{200, 2}, {200, 2}, {200, 2}, "kept so"});
  return b.profile();
}

// The same figures as estimates.
inline Profile EstimatedProfile() {
  Profile profile = ReportProfile();
  profile.tracker.sample_bytes = 64;
  profile.variances = {};
  for (ProfileSite& site : profile.sites) {
    SnapshotSite figures;
    figures.peak = site.peak;
    figures.leaked = site.leaked;
    figures.total = site.total;
    site.variances = VariancesOf(figures, profile.tracker.sample_bytes);
    profile.variances += site.variances;
  }
  return profile;
}

}  // namespace memprof
