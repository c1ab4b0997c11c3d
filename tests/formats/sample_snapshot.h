// Snapshots for tests of the formats.
#pragma once

#include <cstdint>
#include <random>

#include "core/snapshot/snapshot.h"

namespace memprof {

// main → parse → grow and main → load, with figures that differ everywhere.
inline Snapshot SampleSnapshot() {
  Snapshot s;
  s.program = {
      "service", 4711,   {"./service", "--fast"}, 1769860800123, 1500, EndKind::kExit, 3, 900,
      100,       5 << 20};
  s.tracker.bytes = 200000;
  s.tracker.counter_peak_bytes = 350;
  s.modules = {{"/usr/bin/service", "0123456789abcdef"}, {"/lib/libc.so.6", ""}};
  s.frames = {{0, 0x1010}, {0, 0x1500}, {1, 0x2000}, {kNoModule, kPcTruncated}};
  s.nodes = {{0, 0}, {0, 3}, {1, 0}, {2, 1}, {2, 2}};
  s.thread_names = {"main", "io"};
  s.sites = {{3, 0, {100, 1}, {100, 1}, {300, 3}}, {4, 1, {250, 2}, {0, 0}, {1250, 10}}};
  return s;
}

// The same from samples: the first site has blocks in two size classes.
inline Snapshot EstimatedSnapshot() {
  Snapshot s = SampleSnapshot();
  s.tracker.sample_bytes = 512;
  s.sites[0].size_class = 7;
  s.sites[1].size_class = 8;
  s.sites.push_back({3, 0, {40, 4}, {0, 0}, {40, 4}, 4});
  return s;
}

// With kinds, temporaries, sizes, and leaks of threads that still ran at the end.
inline Snapshot DetailedSnapshot() {
  Snapshot s = SampleSnapshot();
  s.tracker.temporary_threshold = 8;
  s.sites[0].kind = AllocatorKind::kMalloc;
  s.sites[0].temporary = {200, 2};
  s.sites[0].sizes = {{7, {300, 3}}};
  s.sites[0].of_running_threads = true;
  s.sites[1].kind = AllocatorKind::kNewArray;
  s.sites[1].temporary = {125, 1};
  s.sites[1].sizes = {{0, {0, 1}}, {8, {1250, 9}}};
  return s;
}

// As large as a service's: a tree of `nodes` over a few hundred functions.
inline Snapshot LargeSnapshot(uint32_t nodes) {
  std::mt19937_64 random(7);
  Snapshot s = SampleSnapshot();
  s.frames.clear();
  for (uint64_t i = 0; i < 800; ++i) s.frames.push_back({0, 0x1000 + i * 200 + random() % 100});
  s.nodes = {{0, 0}};
  s.sites.clear();
  for (uint32_t i = 1; i < nodes; ++i) {
    s.nodes.push_back({static_cast<uint32_t>(random() % i), static_cast<uint32_t>(random() % 800)});
    if (i % 3 != 0) continue;
    const uint64_t blocks = random() % 1000 + 1;
    s.sites.push_back(
        {i, 0, {blocks * 64, blocks}, {blocks * 8, 1}, {blocks * 6400, blocks * 100}});
  }
  return s;
}

}  // namespace memprof
