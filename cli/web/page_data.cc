#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "cli/web/embedded_json.h"
#include "cli/web/page.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

const char* ModeName(PageMode mode) {
  switch (mode) {
    case PageMode::kPeak:
      return "peak";
    case PageMode::kLeaked:
      return "leaked";
    case PageMode::kTotal:
      return "total";
  }
  return "peak";
}

const char* EndName(EndKind kind) {
  switch (kind) {
    case EndKind::kRunning:
      return "running";
    case EndKind::kExit:
      return "exit";
    case EndKind::kSignal:
      return "signal";
    case EndKind::kExec:
      return "exec";
  }
  return "running";
}

// Each text once, in the order of first use; 0 is the empty one.
class Strings {
 public:
  Strings() { Index(""); }
  size_t Index(const std::string& text) {
    const auto [it, is_new] = index_.try_emplace(text, index_.size());
    if (is_new) all_.push_back(text);
    return it->second;
  }
  Json Take() { return std::move(all_); }

 private:
  std::unordered_map<std::string, size_t> index_;
  Json all_ = Json::array();
};

Json EndJson(const SnapshotProgram& program) {
  Json end = {{"kind", EndName(program.end_kind)}, {"code", program.end_code}};
  if (program.end_kind == EndKind::kSignal) {
    const char* name = sigabbrev_np(static_cast<int>(program.end_code));
    end["signal"] = name != nullptr ? std::string("SIG") + name : std::string("signal");
  }
  return end;
}

Json ProgramJson(const Profile& profile) {
  const SnapshotProgram& program = profile.program;
  return {{"program", program.program},
          {"pid", program.pid},
          {"command", program.command},
          {"start_ms", program.start_unix_ms},
          {"duration_ms", program.duration_ms},
          {"end", EndJson(program)},
          {"peak_time_ms", program.peak_time_ms},
          {"peak_time_resolution_ms", program.peak_time_resolution_ms},
          {"rss_peak_bytes", program.rss_peak_bytes},
          {"tracker_bytes", profile.tracker.bytes}};
}

Json FramesJson(const std::vector<PageFrame>& frames, Strings& strings) {
  Json function = Json::array(), file = Json::array(), module = Json::array(),
       lines = Json::array(), kind = Json::array(), inlined = Json::array();
  for (const PageFrame& frame : frames) {
    function.push_back(strings.Index(frame.function));
    file.push_back(strings.Index(frame.file));
    module.push_back(strings.Index(frame.module));
    lines.push_back(strings.Index(frame.lines));
    kind.push_back(static_cast<int>(frame.kind));
    inlined.push_back(frame.inlined ? 1 : 0);
  }
  return {{"function", std::move(function)}, {"file", std::move(file)},
          {"module", std::move(module)},     {"lines", std::move(lines)},
          {"kind", std::move(kind)},         {"inlined", std::move(inlined)}};
}

Json NodesJson(const std::vector<PageNode>& nodes) {
  Json parent = Json::array(), frame = Json::array();
  for (const PageNode& node : nodes) {
    parent.push_back(node.parent);
    frame.push_back(node.frame);
  }
  return {{"parent", std::move(parent)}, {"frame", std::move(frame)}};
}

bool HasFigure(const PageNode& node) {
  return node.peak != Count{} || node.leaked != Count{} || node.total != Count{};
}

Json OwnJson(const std::vector<PageNode>& nodes) {
  Json index = Json::array(), peak_bytes = Json::array(), peak_allocations = Json::array(),
       leaked_bytes = Json::array(), leaked_allocations = Json::array(),
       total_bytes = Json::array(), total_allocations = Json::array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const PageNode& node = nodes[i];
    if (!HasFigure(node)) continue;
    index.push_back(i);
    peak_bytes.push_back(node.peak.bytes);
    peak_allocations.push_back(node.peak.allocations);
    leaked_bytes.push_back(node.leaked.bytes);
    leaked_allocations.push_back(node.leaked.allocations);
    total_bytes.push_back(node.total.bytes);
    total_allocations.push_back(node.total.allocations);
  }
  return {{"node", std::move(index)},
          {"peak_bytes", std::move(peak_bytes)},
          {"peak_allocations", std::move(peak_allocations)},
          {"leaked_bytes", std::move(leaked_bytes)},
          {"leaked_allocations", std::move(leaked_allocations)},
          {"total_bytes", std::move(total_bytes)},
          {"total_allocations", std::move(total_allocations)}};
}

// Of estimates: what the errors are computed from, for the nodes of OwnJson.
Json VariancesJson(const std::vector<PageNode>& nodes) {
  Json json;
  const std::pair<const char*, Variance FigureVariances::*> figures[] = {
      {"peak", &FigureVariances::peak},
      {"leaked", &FigureVariances::leaked},
      {"total", &FigureVariances::total}};
  for (const auto& [name, figure] : figures) {
    Json bytes = Json::array(), allocations = Json::array();
    for (const PageNode& node : nodes) {
      if (!HasFigure(node)) continue;
      bytes.push_back(std::round((node.variances.*figure).bytes));
      allocations.push_back(std::round((node.variances.*figure).allocations));
    }
    json[name + std::string("_bytes")] = std::move(bytes);
    json[name + std::string("_allocations")] = std::move(allocations);
  }
  return json;
}

}  // namespace

std::string PageData(const Profile& profile, const PageOptions& options) {
  const PageTree tree = MakePageTree(profile, options.limits);
  auto pair = [](const Count& count) { return Json::array({count.bytes, count.allocations}); };
  Count kept_by_design;  // of what leaked
  for (const ProfileSite& site : profile.sites) {
    if (site.runtime_reason != nullptr) kept_by_design += site.leaked;
  }
  Strings strings;
  Json frames = FramesJson(tree.frames, strings);
  Json data = {{"schema", 1},
               {"memprof", MEMPROF_VERSION},
               {"mode", ModeName(options.mode)},
               {"capture", options.capture},
               {"program", ProgramJson(profile)},
               {"totals",
                {{"peak", pair(profile.peak)},
                 {"leaked", pair(profile.leaked)},
                 {"total", pair(profile.total)}}},
               {"kept_by_design", pair(kept_by_design)},
               {"sites", profile.sites.size()},
               {"pruned_nodes", tree.pruned_nodes},
               {"warnings", options.warnings},
               {"notes", profile.notes},
               {"strings", strings.Take()},
               {"frames", std::move(frames)},
               {"nodes", NodesJson(tree.nodes)},
               {"own", OwnJson(tree.nodes)}};
  if (const uint64_t sample_bytes = profile.tracker.sample_bytes; sample_bytes != 0) {
    data["sampled"] = {{"bytes", sample_bytes},
                       {"text", SamplingText(sample_bytes)},
                       {"variances", VariancesJson(tree.nodes)}};
  }
  return EscapedForScript(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace memprof
