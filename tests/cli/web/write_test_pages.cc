// Writes the pages that page_test.mjs opens: write_test_pages DIRECTORY.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

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
         Write(directory, "threads", Threads()) &&
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
