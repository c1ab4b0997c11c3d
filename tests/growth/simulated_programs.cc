#include "tests/growth/simulated_programs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/supervisor/images/image_history.h"
#include "cli/supervisor/images/uniform_series.h"

namespace memprof {
namespace {

using P = Parameters;
using Run = SimulatedRun;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

double Size(P& p) { return p.Between(512 * kKiB, 64 * kMiB); }
double Phase(P& p) { return p.Between(0.1, 1); }

void Add(Run& run, const char* name, bool leaks, Shape live) {
  run.sites.push_back({std::move(live), leaks, name});
}
void AddLeak(Run& run, Shape live) { Add(run, "leak", true, std::move(live)); }
void AddOther(Run& run, const char* name, Shape live) { Add(run, name, false, std::move(live)); }

// A leak of that many bytes over the run.
Shape LeakOf(const Run& run, double bytes) { return Line(bytes / run.seconds); }

// Noise that forgets quickly, and slowly.
Shape QuickNoise(P& p, const Run& run, double deviation) {
  return Noise(deviation, run.seconds / p.Between(300, 10000), p.Seed());
}
Shape SlowNoise(P& p, const Run& run, double deviation) {
  return Noise(deviation, run.seconds / p.Between(30, 300), p.Seed());
}

// One of the places that every program has.
void AddSteady(P& p, Run& run) {
  const double size = Size(p);
  switch (p.Seed() % 6) {
    case 0:
      return AddOther(run, "constant", Constant(size));
    case 1:
      return AddOther(run, "quick noise",
                      Sum({Constant(size), QuickNoise(p, run, size * p.Between(0.01, 0.2))}));
    case 2:
      return AddOther(run, "slow noise",
                      Sum({Constant(size), SlowNoise(p, run, size * p.Between(0.01, 0.2))}));
    case 3:
      return AddOther(run, "sessions",
                      Sessions(p.Between(5, 500), run.seconds / p.Between(30, 3000),
                               p.Between(2e3, 2e5), p.Seed()));
    case 4:
      return AddOther(run, "sawtooth",
                      Sawtooth(run.seconds / p.Between(8, 3000), size, Phase(p), p.Seed()));
    default:
      return AddOther(run, "bursts",
                      Bursts(run.seconds / p.Between(3, 60), run.seconds / p.Between(60, 5000),
                             size, p.Seed()));
  }
}

Shape CacheShape(P& p, const Run& run) {
  const double size = Size(p);
  switch (p.Seed() % 4) {
    case 0:
      return Filling(run.seconds / p.Between(5, 60), size);
    case 1:
      return Ramp(run.seconds * p.Between(0.03, 0.7), size);
    case 2:
      return Sum({Filling(run.seconds / p.Between(5, 60), size),
                  QuickNoise(p, run, size * p.Between(0.002, 0.05))});
    default:
      return Sum({Ramp(run.seconds * p.Between(0.03, 0.7), size),
                  SlowNoise(p, run, size * p.Between(0.002, 0.05))});
  }
}

constexpr SimulatedProgram kPrograms[] = {
    {"leak alone", [](P& p, Run& run) { AddLeak(run, LeakOf(run, Size(p))); }},
    {"leak on a base",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Constant(size), LeakOf(run, size * p.Between(0.1, 10))}));
     }},
    {"leak of a kilobyte a second",
     [](P& p, Run& run) {
       run.seconds = p.Between(1800, 1e6);
       AddLeak(run, Sum({Constant(Size(p) / 100), Line(1024)}));
     }},
    {"leak of a block now and then",
     [](P& p, Run& run) {
       AddLeak(run, RandomSteps(run.seconds / p.Between(20, 300), p.Between(16e3, 1e6), p.Seed()));
     }},
    {"leak in quick noise",
     [](P& p, Run& run) {
       const double noise = Size(p) / 5;
       AddLeak(run, Sum({Constant(noise * 5), LeakOf(run, noise * p.Between(3, 12)),
                         QuickNoise(p, run, noise)}));
     }},
    {"leak in slow noise",
     [](P& p, Run& run) {
       const double noise = Size(p) / 5;
       AddLeak(run, Sum({Constant(noise * 5), LeakOf(run, noise * p.Between(5, 20)),
                         SlowNoise(p, run, noise)}));
     }},
    {"leak among sessions",
     [](P& p, Run& run) {
       const double number = p.Between(20, 500), bytes = p.Between(2e3, 2e5);
       AddLeak(run, Sum({Sessions(number, run.seconds / p.Between(50, 3000), bytes, p.Seed()),
                         LeakOf(run, bytes * std::sqrt(number) * p.Between(5, 30))}));
     }},
    {"leak of a part of the sessions",
     [](P& p, Run& run) {
       const double number = p.Between(200, 3000), bytes = p.Between(2e3, 2e4);
       AddLeak(run, Sum({Sessions(20, run.seconds / 500, bytes, p.Seed()),
                         RandomSteps(run.seconds / number, bytes, p.Seed())}));
     }},
    {"leak under a sawtooth",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Sawtooth(run.seconds / p.Between(20, 3000), size, Phase(p), p.Seed()),
                         LeakOf(run, size * p.Between(1, 8))}));
     }},
    {"leak under bursts",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Bursts(run.seconds / p.Between(5, 40), run.seconds / p.Between(100, 3000),
                                size * p.Between(0.5, 4), p.Seed()),
                         LeakOf(run, size)}));
     }},
    {"leak under a daily cycle",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Cycle(run.seconds / p.Between(4, 20), size, Phase(p)),
                         LeakOf(run, size * p.Between(1.5, 8))}));
     }},
    {"leak in working hours",
     [](P& p, Run& run) {
       const double period = run.seconds / p.Between(8, 30), size = Size(p), phase = Phase(p);
       AddLeak(run, [=](double t) {
         const double days = t / period + phase;
         return size * (std::floor(days) + std::min(3 * (days - std::floor(days)), 1.0));
       });
     }},
    {"leak by even steps",
     [](P& p, Run& run) { AddLeak(run, Steps(run.seconds / p.Between(10, 60), Size(p) / 10)); }},
    {"leak after a start",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Filling(run.seconds / p.Between(40, 1000), size),
                         LeakOf(run, size * p.Between(0.1, 3))}));
     }},
    {"leak after a start, in noise",
     [](P& p, Run& run) {
       const double size = Size(p), rise = size * p.Between(0.3, 3);
       AddLeak(run, Sum({Ramp(run.seconds / p.Between(15, 300), size), LeakOf(run, rise),
                         QuickNoise(p, run, rise / p.Between(5, 50))}));
     }},
    {"leak that starts late",
     [](P& p, Run& run) {
       const double start = run.seconds * p.Between(0.1, 0.65), size = Size(p);
       AddLeak(run,
               Sum({Constant(size), From(start, Line(size / run.seconds * p.Between(0.5, 5)))}));
     }},
    {"leak that starts late, in noise",
     [](P& p, Run& run) {
       const double start = run.seconds * p.Between(0.1, 0.6), size = Size(p);
       const double rise = size * p.Between(0.5, 5);
       AddLeak(run, Sum({Constant(size), From(start, Line(rise / (run.seconds - start))),
                         QuickNoise(p, run, rise / p.Between(6, 50))}));
     }},
    {"leak that gets faster",
     [](P& p, Run& run) { AddLeak(run, Curve(run.seconds, Size(p), p.Between(1.2, 2.5))); }},
    {"leak that gets faster, in noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Constant(size), Curve(run.seconds, size, p.Between(1.2, 2.5)),
                         QuickNoise(p, run, size / p.Between(5, 50))}));
     }},
    {"leak that gets a little slower",
     [](P& p, Run& run) { AddLeak(run, Curve(run.seconds, Size(p), p.Between(0.75, 0.95))); }},
    {"leaks of two rates",
     [](P& p, Run& run) {
       AddLeak(run, LeakOf(run, Size(p)));
       AddLeak(run, LeakOf(run, Size(p) * 20));
     }},
    {"leak beside a cache",
     [](P& p, Run& run) {
       AddLeak(run, LeakOf(run, Size(p)));
       AddOther(run, "cache", CacheShape(p, run));
     }},
    {"leak beside three caches and a pool",
     [](P& p, Run& run) {
       AddLeak(run, LeakOf(run, Size(p)));
       for (int i = 0; i < 3; ++i) AddOther(run, "cache", CacheShape(p, run));
       AddOther(run, "pool",
                Sawtooth(run.seconds / p.Between(5, 500), Size(p), Phase(p), p.Seed()));
     }},
    {"leak in a program of a hundred places",
     [](P& p, Run& run) {
       AddLeak(run, LeakOf(run, Size(p)));
       for (int i = 0; i < 80; ++i) AddSteady(p, run);
       for (int i = 0; i < 20; ++i) AddOther(run, "cache", CacheShape(p, run));
     }},
    {"leak that is freed at the exit",
     [](P& p, Run& run) {
       run.frees_all_at_exit = true;
       AddLeak(run, LeakOf(run, Size(p)));
       AddOther(run, "cache", CacheShape(p, run));
     }},
    {"container that doubles",
     [](P& p, Run& run) {
       AddLeak(run, Container(run.seconds, Size(p), 2, Phase(p)));
       run.sites.back().blocks = 1;
     }},
    {"container that grows by a half",
     [](P& p, Run& run) {
       AddLeak(run, Container(run.seconds, Size(p), 1.5, Phase(p)));
       run.sites.back().blocks = 1;
     }},
    {"leak of 6 to 12 KiB",
     [](P& p, Run& run) {
       const double number = p.Between(24, 200);
       run.is_small = true;
       AddLeak(run, RandomSteps(run.seconds / number, p.Between(6, 12) * kKiB / number, p.Seed()));
       AddOther(run, "base", Constant(72 * kKiB));
     }},
    {"residue of a sawtooth",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddLeak(run, Sum({Sawtooth(run.seconds / p.Between(20, 3000), size, Phase(p), p.Seed()),
                         LeakOf(run, size * p.Between(0.5, 1))}));
     }},
    {"cache of distinct keys",
     [](P& p, Run& run) {
       AddOther(run, "cache", Curve(run.seconds, Size(p), p.Between(0.2, 0.55)));
     }},
    {"cache of distinct keys, that comes by blocks",
     [](P& p, Run& run) {
       const double entry = p.Between(64, 4096), power = p.Between(0.2, 0.55), size = Size(p);
       AddOther(run, "cache", [=, seconds = run.seconds](double t) {
         return entry * std::floor(size * std::pow(t / seconds, power) / entry);
       });
     }},
    {"cache of distinct keys that is full at last",
     [](P& p, Run& run) {
       const double full = p.Between(0.3, 0.7), power = p.Between(0.3, 0.7), size = Size(p);
       AddOther(run, "cache", [=, seconds = run.seconds](double t) {
         return size * std::pow(std::min(t / seconds / full, 1.0), power);
       });
     }},
    {"buffers of the largest record",
     [](P& p, Run& run) {
       const auto number = static_cast<size_t>(p.Between(4, 200));
       AddOther(run, "buffers",
                RecordBuffers(number, p.Between(2e3, 2e5), run.seconds / p.Between(50, 5000),
                              p.Seed()));
       run.sites.back().blocks = number;
     }},
    {"one buffer of the largest record",
     [](P& p, Run& run) {
       const double bytes = p.Between(1e4, 1e6);
       Shape record = RecordBuffers(1, 1, run.seconds / p.Between(50, 5000), p.Seed());
       AddOther(run, "buffers", [=](double t) {
         return bytes * std::exp2(std::ceil(2 * std::log2(std::max(record(t), 0.1))));
       });
       run.sites.back().blocks = 1;
     }},
    {"table of a cache that fills",
     [](P& p, Run& run) {
       AddOther(run, "table", Doublings(run.seconds / p.Between(5, 60), Size(p)));
       run.sites.back().blocks = 1;
     }},
    {"few objects",
     [](P& p, Run& run) {
       AddOther(run, "few",
                Sessions(p.Between(0.5, 5), run.seconds / p.Between(15, 1000), p.Between(5e3, 1e6),
                         p.Seed()));
     }},
    {"a late step on what hardly grows",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "heap",
                Sum({Constant(size), From(run.seconds * p.Between(0.6, 0.97), Constant(size)),
                     Logarithm(run.seconds / p.Between(300, 10000), run.seconds, size / 50)}));
     }},
    {"cache that is freed at the exit",
     [](P& p, Run& run) {
       run.frees_all_at_exit = true;
       AddOther(run, "cache", CacheShape(p, run));
     }},
    {"cache",
     [](P& p, Run& run) {
       AddOther(run, "cache", Filling(run.seconds / p.Between(5, 60), Size(p)));
     }},
    {"cache with noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "cache",
                Sum({Filling(run.seconds / p.Between(5, 60), size),
                     QuickNoise(p, run, size * p.Between(0.005, 0.1))}));
     }},
    {"cache with slow noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "cache",
                Sum({Filling(run.seconds / p.Between(5, 60), size),
                     SlowNoise(p, run, size * p.Between(0.005, 0.1))}));
     }},
    {"cache that is swept",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "cache",
                Sum({Filling(run.seconds / p.Between(5, 60), size),
                     Sawtooth(run.seconds / p.Between(10, 1000), size / p.Between(3, 30), Phase(p),
                              p.Seed())}));
     }},
    {"cache filled a day",
     [](P& p, Run& run) {
       const double size = Size(p), days = p.Between(5, 20);
       AddOther(run, "cache",
                Sum({Filling(run.seconds / p.Between(5, 60), size),
                     Cycle(run.seconds / days, size / p.Between(3, 30), Phase(p))}));
     }},
    {"caches of two speeds",
     [](P& p, Run& run) {
       AddOther(run, "cache",
                Sum({Filling(run.seconds / p.Between(20, 300), Size(p)),
                     Filling(run.seconds / p.Between(5, 15), Size(p))}));
     }},
    {"cache that starts late",
     [](P& p, Run& run) {
       AddOther(run, "cache",
                From(run.seconds * p.Between(0.1, 0.4),
                     Filling(run.seconds / p.Between(10, 60), Size(p))));
     }},
    {"ring buffer",
     [](P& p, Run& run) {
       AddOther(run, "ring", Ramp(run.seconds * p.Between(0.02, 0.7), Size(p)));
     }},
    {"ring buffer with noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "ring",
                Sum({Ramp(run.seconds * p.Between(0.02, 0.7), size),
                     QuickNoise(p, run, size * p.Between(0.005, 0.1))}));
     }},
    {"leak that was stopped",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "stopped",
                Sum({Constant(size), Ramp(run.seconds * p.Between(0.2, 0.65), size)}));
     }},
    {"hash table by doublings",
     [](P& p, Run& run) {
       AddOther(run, "table", Doublings(run.seconds / p.Between(5, 60), Size(p)));
     }},
    {"one large table, made once",
     [](P& p, Run& run) {
       AddOther(run, "table", From(run.seconds * p.Between(0.05, 0.95), Constant(Size(p))));
     }},
    {"a few plugins, one after the other",
     [](P& p, Run& run) {
       std::vector<Shape> plugins;
       for (int i = 0; i < 3; ++i) {
         plugins.push_back(From(run.seconds * p.Between(0.01, 0.6), Constant(Size(p))));
       }
       AddOther(run, "plugins", Sum(std::move(plugins)));
     }},
    {"logarithmic growth",
     [](P& p, Run& run) {
       AddOther(run, "names", Logarithm(run.seconds / p.Between(300, 10000), run.seconds, Size(p)));
     }},
    {"slow fragmentation",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "chunks",
                HighWater(size, size * p.Between(0.05, 0.3), run.seconds / p.Between(100, 3000),
                          p.Seed()));
     }},
    {"slow fragmentation, of noisy use",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "chunks",
                Sum({Constant(size),
                     Logarithm(run.seconds / p.Between(300, 10000), run.seconds,
                               size * p.Between(0.1, 0.5)),
                     QuickNoise(p, run, size * p.Between(0.01, 0.1))}));
     }},
    {"sawtooth pool",
     [](P& p, Run& run) {
       AddOther(run, "pool",
                Sawtooth(run.seconds / p.Between(3.5, 3000), Size(p), Phase(p), p.Seed()));
     }},
    {"two sawtooth pools in one",
     [](P& p, Run& run) {
       AddOther(run, "pool",
                Sum({Sawtooth(run.seconds / p.Between(5, 100), Size(p), Phase(p), p.Seed()),
                     Sawtooth(run.seconds / p.Between(5, 3000), Size(p), Phase(p), p.Seed())}));
     }},
    {"batches",
     [](P& p, Run& run) {
       AddOther(run, "batch",
                Sawtooth(run.seconds / p.Between(2.2, 6), Size(p), Phase(p), p.Seed()));
     }},
    {"bursts",
     [](P& p, Run& run) {
       AddOther(run, "bursts",
                Bursts(run.seconds / p.Between(3, 100), run.seconds / p.Between(50, 10000), Size(p),
                       p.Seed()));
     }},
    {"long bursts",
     [](P& p, Run& run) {
       AddOther(
           run, "bursts",
           Sum({Constant(Size(p)), Bursts(run.seconds / p.Between(3, 20),
                                          run.seconds / p.Between(10, 60), Size(p), p.Seed())}));
     }},
    {"burst at the end",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "burst",
                Sum({Constant(size), QuickNoise(p, run, size / 50),
                     From(run.seconds * (1 - p.Between(0.01, 0.15)), Constant(size))}));
     }},
    {"one job that comes and goes",
     [](P& p, Run& run) {
       const double size = Size(p), top = run.seconds * p.Between(0.3, 0.7);
       AddOther(run, "job",
                [=](double t) { return size * std::max(1 - std::abs(t / top - 1), 0.0); });
     }},
    {"daily cycle",
     [](P& p, Run& run) {
       AddOther(run, "cycle", Cycle(run.seconds / p.Between(3, 20), Size(p), Phase(p)));
     }},
    {"daily cycle with noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "cycle",
                Sum({Constant(size / 2), Cycle(run.seconds / p.Between(3, 20), size, Phase(p)),
                     QuickNoise(p, run, size * p.Between(0.01, 0.1))}));
     }},
    {"working hours",
     [](P& p, Run& run) {
       AddOther(run, "work", WorkingHours(run.seconds / p.Between(3, 20), Size(p), Phase(p)));
     }},
    {"sessions",
     [](P& p, Run& run) {
       AddOther(run, "sessions",
                Sessions(p.Between(5, 1000), run.seconds / p.Between(15, 3000), p.Between(2e3, 2e5),
                         p.Seed()));
     }},
    {"sessions after a start",
     [](P& p, Run& run) {
       const double number = p.Between(5, 1000), bytes = p.Between(2e3, 2e5);
       AddOther(run, "sessions",
                Sum({Filling(run.seconds / p.Between(15, 300), number * bytes),
                     Sessions(number, run.seconds / p.Between(15, 3000), bytes, p.Seed())}));
     }},
    {"steady", [](P& p, Run& run) { AddOther(run, "steady", Constant(Size(p))); }},
    {"steady in quick noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "steady",
                Sum({Constant(size), QuickNoise(p, run, size * p.Between(0.01, 0.3))}));
     }},
    {"steady in slow noise",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "steady",
                Sum({Constant(size), SlowNoise(p, run, size * p.Between(0.01, 0.3))}));
     }},
    {"what is given back slowly",
     [](P& p, Run& run) {
       const double size = Size(p);
       AddOther(run, "falls",
                Sum({Constant(size), Times(-0.9, Filling(run.seconds / p.Between(2, 30), size)),
                     QuickNoise(p, run, size * p.Between(0.001, 0.05))}));
     }},
    {"a hundred places, none leaks",
     [](P& p, Run& run) {
       for (int i = 0; i < 80; ++i) AddSteady(p, run);
       for (int i = 0; i < 20; ++i) AddOther(run, "cache", CacheShape(p, run));
     }},
};

struct Sample {
  uint64_t time_ms = 0;
  std::vector<uint64_t> live_bytes;
};

}  // namespace

std::span<const SimulatedProgram> SimulatedPrograms() { return kPrograms; }

SimulatedRun MakeRun(const SimulatedProgram& program, ParameterSet set, uint64_t seed) {
  Parameters parameters(set, seed);
  SimulatedRun run;
  run.seconds = parameters.Between(20, 14 * 86400);
  program.add_sites(parameters, run);
  if (!run.is_small) {
    for (int i = 0; i < 4; ++i) AddSteady(parameters, run);
  }
  return run;
}

KeptHistory Watch(SimulatedRun& run, uint64_t seed) {
  UniformSeries<Sample> series(kFirstMomentsIntervalMs, kMaxMoments);
  Random random(seed);
  const auto end_ms = static_cast<uint64_t>(run.seconds * 1000);
  for (;;) {
    // The supervisor wakes a little late.
    Sample sample = {series.NextDueMs() + random() % 4, {}};
    if (sample.time_ms > end_ms) break;
    for (const SimulatedSite& site : run.sites) {
      const double bytes = site.live(static_cast<double>(sample.time_ms) / 1000);
      sample.live_bytes.push_back(static_cast<uint64_t>(std::max(bytes, 0.0)));
    }
    series.Add(std::move(sample));
  }
  if (run.frees_all_at_exit) series.Add({end_ms, std::vector<uint64_t>(run.sites.size(), 0)});
  KeptHistory kept;
  for (const SimulatedSite& site : run.sites) kept.blocks.push_back(site.blocks);
  kept.live_bytes.resize(run.sites.size());
  for (const Sample& sample : series.samples()) {
    kept.times_ms.push_back(sample.time_ms);
    for (size_t i = 0; i < run.sites.size(); ++i) {
      kept.live_bytes[i].push_back(sample.live_bytes[i]);
    }
  }
  return kept;
}

std::vector<Growth> JudgeSites(const KeptHistory& history) {
  uint64_t most = 0;
  for (size_t at = 0; at < history.times_ms.size(); ++at) {
    uint64_t sum = 0;
    for (const auto& site : history.live_bytes) sum += site[at];
    most = std::max(most, sum);
  }
  GrowthOptions options;
  options.floor_bytes = GrowthFloor(most);
  options.judged = static_cast<size_t>(
      std::count_if(history.live_bytes.begin(), history.live_bytes.end(),
                    [&](const auto& site) { return ExceedsFloor(site, options.floor_bytes); }));
  std::vector<Growth> verdicts;
  for (size_t i = 0; i < history.live_bytes.size(); ++i) {
    const bool known = history.blocks[i] != 0;
    const std::vector<uint64_t> blocks(known ? history.times_ms.size() : 0, history.blocks[i]);
    verdicts.push_back(JudgeGrowth(history.times_ms, history.live_bytes[i], options, blocks));
  }
  return verdicts;
}

}  // namespace memprof
