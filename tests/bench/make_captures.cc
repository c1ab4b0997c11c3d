// Writes COUNT captures into DIRECTORY like those of runs of one service: SITES places each, 19 of
// 20 common to all runs, with sizes, a timeline and moments. For the benchmark of merge.
// usage: make_captures DIRECTORY COUNT SITES
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "core/snapshot/snapshot.h"
#include "formats/capture/capture_writer.h"

namespace memprof {
namespace {

constexpr uint32_t kDepth = 12;

Snapshot AnyRun(std::mt19937_64& random, uint32_t number, uint32_t sites) {
  Snapshot s;
  s.program = {"service",
               1000 + number,
               {"./service", "--shard", std::to_string(number)},
               1'769'860'800'000 + number,
               60'000,
               EndKind::kExit,
               0,
               100,
               100,
               64 << 20,
               number + 1};
  s.tracker.temporary_threshold = 1;
  s.modules = {{"/usr/bin/service", "0123456789abcdef"}, {"/lib/libc.so.6", "fedcba9876543210"}};
  for (uint64_t i = 0; i < 2000; ++i) s.frames.push_back({i % 20 == 0, 0x1000 + i * 64});
  s.nodes = {{}};
  s.thread_names = {"main", "io"};
  s.timeline.interval_ms = 128;
  for (uint64_t i = 0; i < 460; ++i) s.timeline.points.push_back({i * 128, i * 1000, 30 << 20});
  s.moments.interval_ms = 512;
  for (uint64_t i = 0; i < 110; ++i) s.moments.at.push_back({i * 512, false});
  for (uint32_t i = 0; i < sites; ++i) {
    // The stack of a place is the same in every run that has it.
    std::mt19937_64 of_place(i % 20 != 0 ? i : number * 100'000 + i);
    uint32_t node = 0;
    for (uint32_t depth = 0; depth < kDepth; ++depth) {
      s.nodes.push_back({node, static_cast<uint32_t>(of_place() % (depth < 8 ? 8 : 2000))});
      node = static_cast<uint32_t>(s.nodes.size() - 1);
    }
    const uint64_t blocks = random() % 1000 + 1;
    SnapshotSite site = {
        node, i % 2, {blocks * 64, blocks}, {blocks, 1}, {blocks * 6400, blocks * 100}};
    site.kind = AllocatorKind::kMalloc;
    AddSizes(site.sizes, 7, site.total);
    for (uint32_t m = 0; m < 110; m += 1 + static_cast<uint32_t>(random() % 40)) {
      AddChange(site.history, m, {random() % 100'000, random() % 1000});
    }
    s.sites.push_back(site);
  }
  return s;
}

}  // namespace
}  // namespace memprof

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::mt19937_64 random(1);
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const std::string file = std::string(argv[1]) + "/" + std::to_string(i) + ".memprof";
    const std::string bytes = memprof::EncodeCapture(memprof::Canonical(memprof::AnyRun(
        random, static_cast<uint32_t>(i), static_cast<uint32_t>(std::atoi(argv[3])))));
    std::FILE* out = std::fopen(file.c_str(), "wb");
    if (out == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size()) return 1;
    std::fclose(out);
  }
  return 0;
}
