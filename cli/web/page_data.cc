#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "cli/web/embedded_json.h"
#include "cli/web/merged_tree.h"
#include "cli/web/page.h"
#include "cli/web/page_bands.h"
#include "cli/web/page_columns.h"
#include "cli/web/page_functions.h"
#include "cli/web/page_history.h"
#include "cli/web/page_inspection.h"
#include "cli/web/page_memory.h"
#include "cli/web/page_processes.h"
#include "cli/web/page_rows.h"
#include "cli/web/page_statistics.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

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

Json ProgramJson(const Profile& profile) {
  Json program = ProgramObject(profile.program);
  program["tracker_bytes"] = profile.tracker.bytes;
  return program;
}

// The text of each frame's first line, or null if no frame has one.
Json SourceJson(const std::vector<PageFrame>& frames, const PageOptions& options,
                Strings& strings) {
  if (!options.source_line) return nullptr;
  Json source = Json::array();
  size_t left = options.max_source_bytes;
  bool any = false;
  for (const PageFrame& frame : frames) {
    std::string text = frame.line != 0 ? options.source_line(frame.file, frame.line) : "";
    if (text.size() > left) text.clear();
    left -= text.size();
    any = any || !text.empty();
    source.push_back(strings.Index(text));
  }
  return any ? source : Json(nullptr);
}

Json FramesJson(const std::vector<PageFrame>& frames, const PageOptions& options,
                Strings& strings) {
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
  Json json = {{"function", std::move(function)}, {"file", std::move(file)},
               {"module", std::move(module)},     {"lines", std::move(lines)},
               {"kind", std::move(kind)},         {"inlined", std::move(inlined)}};
  Json source = SourceJson(frames, options, strings);
  if (!source.is_null()) json["source"] = std::move(source);
  return json;
}

Json NodesJson(const std::vector<PageNode>& nodes) {
  Json parent = Json::array(), frame = Json::array();
  for (const PageNode& node : nodes) {
    parent.push_back(node.parent);
    frame.push_back(node.frame);
  }
  return {{"parent", std::move(parent)}, {"frame", std::move(frame)}};
}

// The variances of the rows' figures.
template <typename Row>
Json VariancesJson(const std::vector<Row>& rows) {
  Json json;
  for (const Figure figure : kAllFigures) {
    json[NameOf(figure) + std::string("_bytes")] = Column(
        rows, [&](const Row& row) { return std::round(FigureOf(row.variances, figure).bytes); });
    json[NameOf(figure) + std::string("_allocations")] = Column(rows, [&](const Row& row) {
      return std::round(FigureOf(row.variances, figure).allocations);
    });
  }
  return json;
}

Json CountColumns(const std::vector<Count>& counts) {
  return {{"bytes", Column(counts, [](const Count& count) { return count.bytes; })},
          {"allocations", Column(counts, [](const Count& count) { return count.allocations; })}};
}

// Null if there is none.
Json RunningThreadsJson(const Profile& profile, const PageTree& tree) {
  std::map<uint32_t, Count> by_node;
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    const ProfileSite& site = profile.sites[i];
    if (site.of_running_threads) by_node[tree.node_of_site[i]] += site.leaked;
  }
  if (by_node.empty()) return nullptr;
  Json nodes = Json::array();
  std::vector<Count> live;
  for (const auto& [node, count] : by_node) {
    nodes.push_back(node);
    live.push_back(count);
  }
  Json json = {{"node", std::move(nodes)}};
  json.update(CountColumns(live));
  return json;
}

Json OwnJson(const PageRows& page) {
  Json own = {{"node", Column(page.rows, [](const PageRow& row) { return row.node; })}};
  AddColumns(page.rows, page.threads, own);
  return own;
}

Json FunctionsJson(const PageFunctions& page, const std::vector<std::string>& threads, bool sampled,
                   Strings& strings) {
  const std::vector<FunctionName>& all = page.functions;
  using Name = FunctionName;
  Json json = {
      {"function", Column(all, [&](const Name& name) { return strings.Index(name.function); })},
      {"file", Column(all, [&](const Name& name) { return strings.Index(name.file); })},
      {"module", Column(all, [&](const Name& name) { return strings.Index(name.module); })},
      {"kind", Column(all, [](const Name& name) { return static_cast<int>(name.kind); })},
      {"others", page.others}};
  const std::pair<const char*, const std::vector<FunctionRow>*> kinds[] = {
      {"self", &page.self}, {"located", &page.located}, {"inclusive", &page.inclusive}};
  for (const auto& [name, rows] : kinds) {
    Json columns = FunctionColumns(*rows, threads);
    if (sampled) columns["variances"] = VariancesJson(*rows);
    json[name] = std::move(columns);
  }
  return json;
}

Json BandsJson(const Profile& profile, const PageBands& page, Strings& strings) {
  Json functions = Json::array();
  for (const PageBand& band : page.bands) {
    Json json = {{"function", strings.Index(band.function.function)},
                 {"file", strings.Index(band.function.file)},
                 {"module", strings.Index(band.function.module)},
                 {"kind", static_cast<int>(band.function.kind)}};
    json.update(CountColumns(band.live));
    functions.push_back(std::move(json));
  }
  return {
      {"time_ms", Column(profile.moments.at, [](const Moment& moment) { return moment.time_ms; })},
      {"functions", std::move(functions)},
      {"others", CountColumns(page.others)},
      {"sources_without", page.sources_without}};
}

// No page is made smaller than this: the rest of its size isn't the tree's.
constexpr size_t kFewestNodes = 100;
// The figures by function take at most one in so many bytes of the data.
constexpr size_t kFunctionsShare = 3;

struct Data {
  std::string json;
  size_t nodes = 0;
};

// Makes the data of one profile within different limits.
class DataWriter {
 public:
  DataWriter(const Profile& profile, const PageOptions& options)
      : profile_(profile),
        options_(options),
        merged_(MergeTree(profile)),
        bands_(MakePageBands(profile, merged_)) {}

  Data Write(const PageLimits& limits) {
    const PageTree tree = MakePageTree(profile_, merged_, limits);
    const PageRows rows = MakePageRows(profile_, tree, limits.max_nodes);
    if (rows.thread_of != thread_of_ || functions_.functions.empty()) {
      thread_of_ = rows.thread_of;
      functions_ = MakePageFunctions(
          profile_, merged_, rows,
          std::min(limits.max_function_bytes, options_.max_data_bytes / kFunctionsShare));
    }
    return {Text(tree, rows, limits), tree.nodes.size()};
  }

 private:
  std::string Text(const PageTree& tree, const PageRows& rows, const PageLimits& limits) const;

  const Profile& profile_;
  const PageOptions& options_;
  const MergedTree merged_;
  const PageBands bands_;
  std::vector<uint32_t> thread_of_;  // by which functions_ was made
  PageFunctions functions_;
};

std::string DataWriter::Text(const PageTree& tree, const PageRows& rows,
                             const PageLimits& limits) const {
  const Profile& profile = profile_;
  const PageOptions& options = options_;
  const bool sampled = profile.tracker.sample_bytes != 0;
  Strings strings;
  Json frames = FramesJson(tree.frames, options, strings);
  Json functions = FunctionsJson(functions_, rows.threads, sampled, strings);
  Json bands;
  if (!bands_.others.empty()) bands = BandsJson(profile, bands_, strings);
  Json data = {{"schema", 1},
               {"memprof", MEMPROF_VERSION},
               {"mode", NameOf(options.mode)},
               {"native_frames", options.native_frames},
               {"capture", options.capture},
               {"program", ProgramJson(profile)},
               {"totals", FiguresJson(profile)},
               {"temporary_threshold", profile.tracker.temporary_threshold},
               {"kept_by_design", CountJson(SumKeptByRuntime(profile))},
               {"of_running_threads", CountJson(SumOfRunningThreads(profile))},
               {"sites", profile.sites.size()},
               {"pruned_nodes", tree.pruned_nodes},
               {"warnings", options.warnings},
               {"notes", profile.notes},
               {"strings", strings.Take()},
               {"frames", std::move(frames)},
               {"nodes", NodesJson(tree.nodes)},
               {"threads", rows.threads},
               {"own", OwnJson(rows)},
               {"functions", std::move(functions)}};
  if (sampled) {
    data["sampled"] = {{"bytes", profile.tracker.sample_bytes},
                       {"text", SamplingText(profile.tracker.sample_bytes)},
                       {"variances", VariancesJson(rows.rows)}};
  }
  Json running = RunningThreadsJson(profile, tree);
  if (!running.is_null()) data["running"] = std::move(running);
  if (!bands.is_null()) data["bands"] = std::move(bands);
  Json processes = ProcessesJson(profile, tree, rows, functions_);
  if (!processes.is_null()) data["processes"] = std::move(processes);
  if (!options.run.empty()) data["run"] = options.run;
  if (options.statistics) data["statistics"] = StatisticsJson(*options.statistics);
  Json inspection = HeldJson(profile);
  if (!inspection.is_null()) data["inspection"] = std::move(inspection);
  AddMemory(profile, data);
  AddHistory(profile, tree, limits.max_history_bytes, data);
  return EscapedForScript(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// A node has rows of its own for each process of a merge that is kept apart, so fewer nodes fit. If this
// leaves too many, PageData drops some, but has then written a page that is many times too large.
size_t NodesBesideProcesses(const Profile& profile, size_t max_nodes) {
  constexpr double kShareOfRows = 0.6;  // of the bytes of a node
  size_t rows = 0;
  for (const ProfileProcess& process : profile.processes) rows += process.rows.size();
  const double per_site =
      static_cast<double>(rows) / static_cast<double>(std::max<size_t>(profile.sites.size(), 1));
  const double fitting = static_cast<double>(max_nodes) / (1 + kShareOfRows * per_site);
  return std::max(std::min(max_nodes, kFewestNodes), static_cast<size_t>(fitting));
}

}  // namespace

std::string PageData(const Profile& profile, const PageOptions& options) {
  DataWriter writer(profile, options);
  // The tree's limits are estimates; the page's limit counts the bytes written.
  PageLimits limits = options.limits;
  limits.max_nodes = NodesBesideProcesses(profile, limits.max_nodes);
  for (;;) {
    Data data = writer.Write(limits);
    if (data.json.size() <= options.max_data_bytes || data.nodes <= kFewestNodes) return data.json;
    const double too_large =
        static_cast<double>(data.json.size()) / static_cast<double>(options.max_data_bytes);
    limits.max_nodes = std::max(
        kFewestNodes, static_cast<size_t>(0.9 * static_cast<double>(data.nodes) / too_large));
  }
}

}  // namespace memprof
