// ProfileBuilder: synthetic profiles for the tests of the page, without a program that ran.
//
//   ProfileBuilder b("demo");
//   b.Site({{"main", "main.cc", 10}, {"load", "load.cc", 20}}, {.peak = {100, 1}});
//
// Frames are given outermost first. Equal stacks share nodes; each call of Site is a site.
// TreeOf(profile) is a page's tree of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/web/page_tree.h"
#include "core/profile/profile.h"

namespace memprof {

struct TestFrame {
  std::string function;
  std::string file = {};
  uint32_t line = 0;
  std::string module = "/opt/demo/bin/demo";  // empty: a row, of no module
  bool inlined = false;
};

struct TestCounts {
  Count peak = {};
  Count leaked = {};
  Count total = {};
  const char* runtime_reason = nullptr;
  std::string thread = "main";
};

class ProfileBuilder {
 public:
  explicit ProfileBuilder(const std::string& program) {
    profile_.program.program = program;
    profile_.program.pid = 4711;
    profile_.program.command = {"/opt/demo/bin/" + program, "--config", "/etc/demo.toml"};
    profile_.program.start_unix_ms = 1'760'000'000'000;
    profile_.program.duration_ms = 83'400;
    profile_.program.end_kind = EndKind::kExit;
    profile_.program.peak_time_ms = 61'210;
    profile_.program.peak_time_resolution_ms = 4;
    profile_.thread_names = {"main"};
    profile_.nodes.push_back({});
  }

  ProfileBuilder& Site(const std::vector<TestFrame>& stack, const TestCounts& counts) {
    uint32_t node = 0;
    for (const TestFrame& frame : stack) node = Node(node, Frame(frame));
    profile_.sites.push_back({node, Thread(counts.thread), counts.peak, counts.leaked, counts.total,
                              counts.runtime_reason});
    profile_.peak += counts.peak;
    profile_.leaked += counts.leaked;
    profile_.total += counts.total;
    return *this;
  }

  Profile& profile() { return profile_; }

 private:
  uint32_t Thread(const std::string& name) {
    std::vector<std::string>& names = profile_.thread_names;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) names.push_back(name);
    return static_cast<uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  uint32_t Module(const std::string& path) {
    if (path.empty()) return kNoModule;
    const auto [it, is_new] =
        modules_.try_emplace(path, static_cast<uint32_t>(profile_.modules.size()));
    if (is_new) profile_.modules.push_back({path, ""});
    return it->second;
  }

  uint32_t Frame(const TestFrame& f) {
    const auto [it, is_new] =
        frames_.try_emplace(std::tuple(f.function, f.file, f.line, f.module, f.inlined),
                            static_cast<uint32_t>(profile_.frames.size()));
    if (is_new) {
      profile_.frames.push_back({f.function, f.file, f.line, Module(f.module), 0x1000, f.inlined});
    }
    return it->second;
  }

  uint32_t Node(uint32_t parent, uint32_t frame) {
    const auto [it, is_new] =
        nodes_.try_emplace(std::pair(parent, frame), static_cast<uint32_t>(profile_.nodes.size()));
    if (is_new) profile_.nodes.push_back({parent, frame});
    return it->second;
  }

  Profile profile_;
  std::map<std::string, uint32_t> modules_;
  std::map<std::tuple<std::string, std::string, uint32_t, std::string, bool>, uint32_t> frames_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes_;
};

inline PageTree TreeOf(const Profile& profile, const PageLimits& limits = {}) {
  return MakePageTree(profile, MergeTree(profile), limits);
}

}  // namespace memprof
