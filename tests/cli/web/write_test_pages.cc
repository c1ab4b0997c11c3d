// Writes the pages that page_test.mjs opens: write_test_pages DIRECTORY.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "cli/reports/statistics.h"
#include "cli/reports/summary_text.h"
#include "cli/web/page.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

constexpr char kLibc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
constexpr char kXml[] = "/usr/lib/x86_64-linux-gnu/libxml2.so.2";

// page_test.mjs knows its figures. Bytes at the peak: 3,000,000 in all; leaked: 4,096.
Profile Known() {
  ProfileBuilder b("demo");
  const TestFrame start{"_start", "", 0}, libc{"__libc_start_main", "", 0, kLibc},
      main{"main", "src/main.cc", 42},
      load{"Config::Load(std::string const&)", "src/config.cc", 88},
      serve{"Server::Run()", "src/server.cc", 201},
      grow{"std::vector<Entry, std::allocator<Entry> >::reserve(unsigned long)",
           "/usr/include/c++/12/bits/vector.tcc", 79, "/opt/demo/bin/demo", true},
      news{"operator new(unsigned long)", "", 0, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
  b.Site({start, libc, main, load, grow, news}, {{1'500'000, 10}, {0, 0}, {9'000'000, 60}});
  b.Site({start, libc, main, load, {"Parse(char const*)", "src/parse.cc", 17}},
         {{700'000, 4}, {4'000, 1}, {700'000, 4}});
  b.Site({start, libc, main, load, {"xmlParseDocument", "", 0, kXml}, {"xmlStrdup", "", 0, kXml}},
         {{500'000, 5000}, {96, 1}, {800'000, 9000}});
  b.Site({start, libc, main, serve, {"Session::Session(int)", "src/session.cc", 9}, news},
         {{170'000, 80}, {0, 0}, {4'000'000, 1600}});
  b.Site({start, libc, main, serve, grow, news}, {{100'000, 3}, {0, 0}, {200'000, 6}});
  b.Site({{"[truncated]", "", 0, ""}, {"walk", "src/walk.c", 5}},
         {{30'000, 1}, {0, 0}, {30'000, 1}});
  b.profile().program.rss_peak_bytes = 9'437'184;
  b.profile().tracker.bytes = 1'100'000;
  b.profile().notes = {
      "libxml2.so.2: no debug information; functions have names but no lines "
      "(apt-get install libxml2-dbgsym)"};
  return b.profile();
}

// Bytes at the peak: main 600,000, the worker 300,000, one without a name 100,000.
Profile Threads() {
  ProfileBuilder b("demo");
  const TestFrame start{"start_thread", "", 0, kLibc}, load{"Load()", "src/load.cc", 5},
      log{"Log()", "src/log.cc", 7}, run{"Run()", "src/run.cc", 9};
  b.Site({start, load}, {.peak = {400'000, 4}, .total = {400'000, 4}});
  b.Site({start, log}, {.peak = {200'000, 2}, .total = {200'000, 2}});
  b.Site({start, load}, {.peak = {200'000, 2}, .total = {200'000, 2}, .thread = "<b>worker</b>"});
  b.Site({start, run}, {.peak = {100'000, 1}, .total = {100'000, 1}, .thread = "<b>worker</b>"});
  b.Site({start, run}, {.peak = {100'000, 1}, .total = {100'000, 1}, .thread = ""});
  return b.profile();
}

// Known's as estimates: an error of 50,000 at each place.
Profile Sampled() {
  Profile profile = Known();
  profile.tracker.sample_bytes = 512 << 10;
  for (ProfileSite& site : profile.sites) {
    site.variances.peak = {50'000.0 * 50'000, 9};
    site.variances.total = {70'000.0 * 70'000, 9};
    profile.variances += site.variances;
  }
  return profile;
}

Profile Hostile() {
  const std::string attack =
      "<img src=x onerror=\"window.hit=1\"></script><script>window.hit=2</script>";
  ProfileBuilder b(attack);
  b.profile().program.command = {attack, "' \" ` $& $1 {{script}}", std::string("nul\0byte", 8)};
  b.profile().program.end_kind = EndKind::kSignal;
  b.profile().program.end_code = 9;
  b.profile().notes = {attack};
  std::string long_name = "ns::Longest<";
  while (long_name.size() < 10'000) long_name += "std::pair<unsigned long, Widget>, ";
  long_name += "int>::operator()(int) const";
  const TestFrame main{attack, attack, 1, "/tmp/" + attack};
  b.Site({main, {long_name, "src/long.cc", 3}}, {.peak = {600, 6}, .total = {600, 6}});
  b.Site({main, {"bytes \xff\xfe\xc3( \x01\x1b[31m end", "", 0}},
         {.peak = {300, 3}, .total = {300, 3}});
  b.Site({main, {"__proto__", "constructor", 2}}, {.peak = {100, 1}, .total = {100, 1}});
  return b.profile();
}

// About `count` nodes, with the depths and widths of real call trees.
Profile Large(uint32_t count) {
  ProfileBuilder b("large");
  uint64_t random = 88172645463325252u;
  auto next = [&random](uint64_t below) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random % below;
  };
  std::vector<TestFrame> stack = {{"main", "main.cc", 1}};
  while (b.profile().nodes.size() < count) {
    // Mostly a little way back, so that subtrees become large; sometimes to anywhere.
    const size_t drop =
        next(50) == 0 ? next(stack.size()) : next(std::min<size_t>(13, stack.size()));
    stack.resize(stack.size() - drop);
    const uint64_t deeper = 1 + next(12);
    for (uint64_t i = 0; i < deeper && stack.size() < 60; ++i) {
      const uint64_t id = next(1 + next(3000));  // some functions are called often
      stack.push_back(
          {fmt::format("ns{}::Class{}::method{}(int, std::string const&)", id % 17, id % 301, id),
           fmt::format("src/file{}.cc", id % 301), static_cast<uint32_t>(1 + id % 900),
           id % 5 == 0 ? kXml : "/opt/large/bin/large"});
    }
    const uint64_t bytes = 16 + next(100'000);
    b.Site(stack, {{bytes, 1 + next(50)},
                   {next(8) == 0 ? bytes / 2 : 0, next(8) == 0 ? 1u : 0u},
                   {bytes * 3, 100}});
  }
  return b.profile();
}

// Node::Create() holds 3,000,000 of 4,000,000 bytes, in 3,000 stacks, each of which is small.
Profile Scattered() {
  ProfileBuilder b("scattered");
  const TestFrame main{"main", "src/main.cc", 42}, create{"Node::Create()", "src/node.cc", 7},
      load{"Load()", "src/load.cc", 5};
  for (uint32_t i = 0; i < 3000; ++i) {
    const TestFrame visit{fmt::format("Visit<{}>()", i), "src/visit.cc", i + 1};
    b.Site({main, visit, create},
           {{1000, 1}, {i % 3 == 0 ? 10u : 0u, i % 3 == 0 ? 1u : 0u}, {1000, 1}});
  }
  b.Site({main, load}, {{1'000'000, 10}, {500, 5}, {1'000'000, 10}});
  return b.profile();
}

// Live bytes of four functions at 1 s, 2 s, 3 s and 4 s:
//
//   Cache::Put()     100,000  400,000  700,000  900,000
//   Parse()          300,000  500,000   50,000        0
//   Log::Line()       10,000   10,000   10,000   10,000    in 1,000 blocks, the others in 10
//   Small<i>()         1,000    1,000    1,000    1,000    each of twenty
Profile Service() {
  ProfileBuilder b("service");
  const TestFrame main{"main", "src/main.cc", 42};
  const auto site = [&](const TestFrame& frame, const std::vector<uint64_t>& live,
                        uint64_t blocks) {
    b.Site({main, frame},
           {{live[3], live[3] == 0 ? 0 : blocks}, {0, 0}, {2 * live[1], 2 * blocks}});
    ProfileSite& made = b.profile().sites.back();
    for (uint32_t i = 0; i < 4; ++i)
      AddChange(made.history, i, {live[i], live[i] == 0 ? 0 : blocks});
    made.kind = AllocatorKind::kMalloc;
    AddSizes(made.sizes, live[1] > 100'000 ? 16 : 5, made.total);
    AddSizes(b.profile().sizes, made.sizes);
  };
  site({"Cache::Put()", "src/cache.cc", 9}, {100'000, 400'000, 700'000, 900'000}, 10);
  site({"Parse()", "src/parse.cc", 17}, {300'000, 500'000, 50'000, 0}, 10);
  site({"Log::Line()", "src/log.cc", 7}, {10'000, 10'000, 10'000, 10'000}, 1000);
  for (int i = 0; i < 20; ++i) {
    site({fmt::format("Small<{}>()", i), "src/small.cc", 3}, {1000, 1000, 1000, 1000}, 10);
  }
  Profile& profile = b.profile();
  profile.program.duration_ms = 4200;
  profile.program.peak_time_ms = 4000;
  profile.program.rss_peak_bytes = 3 << 20;
  profile.moments.interval_ms = 1000;
  for (uint64_t s = 1; s <= 4; ++s) profile.moments.at.push_back({1000 * s, false});
  const uint64_t heap[] = {0, 430'000, 930'000, 780'000, 930'000, 930'000};
  profile.timeline.interval_ms = 100;
  for (uint64_t ms = 0; ms <= 4200; ms += 100) {
    profile.timeline.points.push_back({ms, heap[(ms + 500) / 1000], (2 << 20) + ms * 100});
  }
  MemorySample highest;
  highest.time_ms = 4000;
  highest.rss_bytes = 3'000'000;
  highest.anonymous_bytes = 1'500'000;
  highest.file_bytes = 1'500'000;
  highest.live_bytes = 930'000;
  profile.memory.samples = {highest};
  return profile;
}

// Three processes, of which the merge keeps two apart. Bytes at their peaks:
//
//              Load()   Work()
//   make      500,000        0    pid 100
//   worker    200,000  100,000    pid 101
//   worker     60,000   40,000    pid 102, not kept apart
Profile Merge() {
  ProfileBuilder b("make");
  const TestFrame main{"main", "src/main.cc", 42};
  b.Site({main, {"Load()", "src/load.cc", 5}}, {{760'000, 76}, {30'000, 3}, {760'000, 76}});
  b.Site({main, {"Work()", "src/work.cc", 6}},
         {{140'000, 14}, {0, 0}, {140'000, 14}, nullptr, "worker"});
  Profile& profile = b.profile();
  profile.program.pid = 0;
  profile.program.command.clear();
  profile.program.rss_peak_bytes = 9 << 20;
  const auto add = [&](uint32_t pid, const std::string& name, Count peak, uint64_t ms,
                       std::vector<ProcessRow> rows) {
    SnapshotSource source;
    source.program.program = name;
    source.program.pid = pid;
    source.program.run_id = pid;
    source.program.command = {"/usr/bin/" + name, "-j", "two words"};
    source.program.start_unix_ms = 1'760'000'000'000 + static_cast<int64_t>(ms);
    source.program.duration_ms = 1000 + ms;
    source.program.end_kind = EndKind::kExit;
    source.program.rss_peak_bytes = 3 << 20;
    source.peak = peak;
    profile.sources.push_back(source);
    ProfileProcess process;
    process.kind = rows.empty() ? SnapshotProcess::Kind::kSummed : SnapshotProcess::Kind::kApart;
    for (const ProcessRow& row : rows) AddFigures(process, row);
    process.rows = std::move(rows);
    profile.processes.push_back(std::move(process));
  };
  add(100, "make", {500'000, 50}, 0, {{0, {500'000, 50}, {20'000, 2}, {500'000, 50}, {}}});
  add(101, "worker", {300'000, 30}, 2000,
      {{0, {200'000, 20}, {10'000, 1}, {200'000, 20}, {}},
       {1, {100'000, 10}, {0, 0}, {100'000, 10}, {}}});
  add(102, "worker", {100'000, 10}, 3000, {});
  return profile;
}

// An inspection with 20 blocks lost at one place, and a way whose names are hostile.
Profile Inspected() {
  ProfileBuilder b("inspected");
  const TestFrame main = {"main", "src/main.cc", 3};
  b.Site({main, {"Lose", "src/deep/lose.cc", 7}},
         {.peak = {2000, 20}, .leaked = {2000, 20}, .total = {2000, 20}});
  b.Site({main, {"Hold<b>", "src/hold.cc", 9}},
         {.peak = {9000, 3}, .leaked = {9000, 3}, .total = {9000, 3}});
  Profile profile = b.profile();
  SnapshotInspection& found = profile.inspection;
  found.looks = 2;
  found.time_ms = 65'000;
  found.notes = {"a note"};
  found.rows = {{profile.sites[0].node, {}, 8192, 6192}, {profile.sites[1].node, {}, 12288, 3288}};
  found.rows[0].figures.lost_directly = {100, 1};
  found.rows[0].figures.lost_indirectly = {1900, 19};
  found.rows[1].figures.reachable = {9000, 3};
  found.roots = {"</script><script>window.hit = 4</script> (inspected, .bss)"};
  found.paths = {{}, {0, true, 0, {}}, {1, false, 1, {9000, 3}}};
  found.retained = {{}, {0, 1, 9000}};
  return profile;
}

std::string SourceLine(const std::string& file, uint32_t line) {
  if (file == "src/parse.cc" && line == 17) return "nodes.push_back(new Node(text));  // <b>";
  return line == 1 ? "</script><script>window.hit = 3</script>" : "";
}

bool Write(const std::string& directory, const std::string& name, const Profile& profile,
           const std::vector<std::string>& warnings = {}, const PageLimits& limits = {}) {
  PageOptions options;
  options.limits = limits;
  options.warnings = warnings;
  options.capture = name + ".memprof";
  options.source_line = SourceLine;
  if (!profile.sources.empty()) options.run = MergeText(profile.sources);
  options.statistics = StatisticsOf(profile);
  std::ofstream file(directory + "/" + name + ".html", std::ios::binary);
  file << MakePage(profile, options);
  file.flush();
  return file.good();
}

bool WriteAll(const std::string& directory) {
  ProfileBuilder no_leak("tidy");
  no_leak.Site({{"main", "m.cc", 1}}, {.peak = {10, 1}, .total = {10, 1}});
  return Write(directory, "known", Known()) && Write(directory, "sampled", Sampled()) &&
         Write(directory, "hostile", Hostile(),
               {"12 events were <b>dropped</b>", "a second thing"}) &&
         Write(directory, "tidy", no_leak.profile()) && Write(directory, "large", Large(20'000)) &&
         Write(directory, "huge", Large(200'000)) && Write(directory, "endless", Large(300'000)) &&
         Write(directory, "threads", Threads()) && Write(directory, "service", Service()) &&
         Write(directory, "merge", Merge()) && Write(directory, "inspected", Inspected()) &&
         Write(directory, "scattered", Scattered(), {}, {.max_nodes = 400});
}

}  // namespace
}  // namespace memprof

int main(int argc, char** argv) {
  if (argc != 2 || !memprof::WriteAll(argv[1])) {
    std::cerr << "write_test_pages: usage: write_test_pages DIRECTORY, which must be writable\n";
    return 1;
  }
  return 0;
}
