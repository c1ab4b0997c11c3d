#include "core/profile/runtime_leaks.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/profile/profile.h"

namespace memprof {
namespace {

// Resolves offset 1 to "setlocale", 2 to "strdup" and everything else to "f".
class NamesOfLibc : public Symbolizer {
 public:
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule>,
                                   std::span<const SnapshotFrame> frames) override {
    asked += frames.size();
    std::vector<SourceChain> chains;
    for (const SnapshotFrame& frame : frames) {
      const char* name = frame.offset == 1 ? "setlocale" : frame.offset == 2 ? "strdup" : "f";
      chains.push_back({{name, "", 0, false}});
    }
    return chains;
  }
  const std::vector<std::string>& notes() const override { return notes_; }

  size_t asked = 0;

 private:
  std::vector<std::string> notes_;
};

// main allocates by setlocale's strdup, by strdup alone, through a library, and by setlocale what
// it frees; the loader keeps a block.
Snapshot Demo() {
  Snapshot snapshot;
  snapshot.modules = {{"/bin/demo", ""},
                      {"/lib/libc.so.6", ""},
                      {"/lib64/ld-linux-x86-64.so.2", ""},
                      {"/lib/libdemo.so", ""}};
  snapshot.frames = {{0, 9}, {1, 1}, {1, 2}, {2, 7}, {3, 8}, {2, 6}};
  //                  root  main    setlocale  its strdup  main's strdup  loader  library  loader's
  snapshot.nodes = {{}, {0, 0}, {1, 1}, {2, 2}, {1, 2}, {1, 3}, {1, 4}, {5, 5}};
  snapshot.thread_names = {"main"};
  snapshot.sites = {{2, 0, {10, 1}, {0, 0}, {10, 1}},
                    {3, 0, {100, 2}, {100, 2}, {100, 2}},
                    {4, 0, {1000, 3}, {1000, 3}, {1000, 3}},
                    {7, 0, {10000, 1}, {10000, 1}, {10000, 1}},
                    {6, 0, {100000, 1}, {100000, 1}, {100000, 1}}};
  return snapshot;
}

TEST(RuntimeLeaks, AreWhatEveryReportSays) {
  NamesOfLibc symbolizer;
  const Count kept = ClassifyLeaks(Demo(), symbolizer).kept_by_runtime;
  EXPECT_EQ(kept, (Count{10100, 3}));
  EXPECT_EQ(kept, SumKeptByRuntime(MakeProfile(Demo(), symbolizer)));
}

// What the runtime keeps by design isn't counted a second time.
TEST(RuntimeLeaks, AreNoneOfRunningThreads) {
  NamesOfLibc symbolizer;
  Snapshot demo = Demo();
  for (const size_t site : {1u, 2u, 4u}) demo.sites[site].of_running_threads = true;
  const LeakClasses classes = ClassifyLeaks(demo, symbolizer);
  EXPECT_EQ(classes.kept_by_runtime, (Count{10100, 3}));
  EXPECT_EQ(classes.of_running_threads, (Count{101000, 4}));
  EXPECT_EQ(classes.of_running_threads, SumOfRunningThreads(MakeProfile(demo, symbolizer)));
}

TEST(RuntimeLeaks, StandBeforeThoseOfRunningThreads) {
  EXPECT_EQ(LeakClassesText({100, 2}, {}, false), "");
  EXPECT_EQ(
      LeakClassesText({100, 2}, {{40, 1}, {12, 1}}, false),
      ", 40 B of it kept by design by the runtime, 12 B of it in 1 block of threads that still "
      "ran at the end");
  EXPECT_EQ(LeakClassesText({100, 2}, {{}, {100, 2}}, false),
            ", all of it of threads that still ran at the end");
}

TEST(RuntimeLeaks, AskForTheNamesOfLibcsFramesAlone) {
  NamesOfLibc symbolizer;
  ClassifyLeaks(Demo(), symbolizer);
  EXPECT_EQ(symbolizer.asked, 2u);
}

TEST(RuntimeLeaks, StandBehindWhatLeaked) {
  EXPECT_EQ(KeptByRuntimeText({100, 2}, {}, false), "");
  EXPECT_EQ(KeptByRuntimeText({100, 2}, {40, 1}, false),
            ", 40 B of it kept by design by the runtime");
  EXPECT_EQ(KeptByRuntimeText({100, 2}, {40, 1}, true),
            ", ≈ 40 B of it kept by design by the runtime");
  EXPECT_EQ(KeptByRuntimeText({100, 2}, {100, 2}, true),
            ", all of it kept by design by the runtime");
}

}  // namespace
}  // namespace memprof
