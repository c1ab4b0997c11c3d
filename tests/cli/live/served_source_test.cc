#include "cli/live/served_source.h"

#include <gtest/gtest.h>

#include "cli/serve/live_json.h"

namespace memprof {
namespace {

ServedRunLook Look() {
  ServedRunLook run;
  run.program = 4711;
  run.supervisor = 4710;
  run.capture = "/tmp/x.memprof";
  run.living = 1;
  ServedProcess process;
  process.pid = 4711;
  process.program = "demo";
  process.rss_bytes = 1000;
  Snapshot& snapshot = process.snapshot;
  snapshot.program.program = "demo";
  snapshot.program.pid = 4711;
  snapshot.modules = {{"/bin/demo", "ab"}};
  snapshot.frames = {{0, 0x20}, {0, 0x10}};  // not in canonical order
  snapshot.nodes = {{}, {0, 0}, {1, 1}};
  snapshot.thread_names = {"main"};
  SnapshotSite site;
  site.node = 2;
  site.leaked = site.peak = site.total = {500, 5};
  snapshot.sites = {site};
  process.symbols.chains = {{{"main", "a.c", 2, false}}, {{"grow", "a.c", 1, false}}};
  process.symbols.notes = {""};
  run.processes = {process};
  return run;
}

TEST(ServedSource, ReadsWhatAServerAnswers) {
  const auto reading = ParseServedRun(LiveJsonOf(Look()));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->run.program, 4711);
  EXPECT_EQ(reading->run.capture, "/tmp/x.memprof");
  EXPECT_FALSE(reading->ended);
  ASSERT_EQ(reading->processes.size(), 1u);
  const LiveProcess& process = reading->processes[0];
  EXPECT_EQ(process.rss_bytes, 1000u);
  EXPECT_EQ(SumLeaked(process.snapshot).bytes, 500u);
  ASSERT_EQ(process.symbols.chains.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(process.symbols.chains[i][0].function,
              process.snapshot->frames[i].offset == 0x10 ? "grow" : "main");
  }
}

TEST(ServedSource, RefusesOtherAnswersAndLeavesOutOtherFigures) {
  for (const char* other : {"", "[]", "{}", "null", "<html>", R"({"schema":2,"processes":[]})",
                            R"({"schema":1})", R"({"schema":1,"processes":{}})"}) {
    EXPECT_FALSE(ParseServedRun(other)) << other;
  }
  const auto odd = ParseServedRun(
      R"({"schema":1,"pid":"x","processes":[1,{},{"figures":"!"},{"figures":"aGVsbG8="},{"figures":3}]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->run.program, 0);
  EXPECT_TRUE(odd->processes.empty());
}

}  // namespace
}  // namespace memprof
