#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "cli/web/embedded_json.h"
#include "cli/web/merged_tree.h"
#include "cli/web/page.h"
#include "cli/web/page_functions.h"
#include "cli/web/page_history.h"
#include "cli/web/page_memory.h"
#include "cli/web/page_rows.h"

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

Json EndJson(const SnapshotProgram& program) {
  Json end = {{"kind", NameOf(program.end_kind)}, {"code", program.end_code}};
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

template <typename Row, typename Value>
Json Column(const std::vector<Row>& rows, Value value) {
  Json column = Json::array();
  for (const Row& row : rows) column.push_back(value(row));
  return column;
}

// The rows' threads, if there are several, and their figures.
template <typename Row>
void AddRows(const std::vector<Row>& rows, const std::vector<std::string>& threads, Json& json) {
  if (threads.size() > 1) {
    json["thread"] = Column(rows, [](const Row& row) { return row.thread; });
  }
  for (const Figure figure : kAllFigures) {
    json[NameOf(figure) + std::string("_bytes")] =
        Column(rows, [&](const Row& row) { return FigureOf(row, figure).bytes; });
    json[NameOf(figure) + std::string("_allocations")] =
        Column(rows, [&](const Row& row) { return FigureOf(row, figure).allocations; });
  }
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

Json OwnJson(const PageRows& page) {
  Json own = {{"node", Column(page.rows, [](const PageRow& row) { return row.node; })}};
  AddRows(page.rows, page.threads, own);
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
    Json columns = {{"of", Column(*rows, [](const FunctionRow& row) { return row.function; })}};
    AddRows(*rows, threads, columns);
    if (sampled) columns["variances"] = VariancesJson(*rows);
    json[name] = std::move(columns);
  }
  return json;
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
      : profile_(profile), options_(options), merged_(MergeTree(profile)) {}

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
  std::vector<uint32_t> thread_of_;  // by which functions_ was made
  PageFunctions functions_;
};

std::string DataWriter::Text(const PageTree& tree, const PageRows& rows,
                             const PageLimits& limits) const {
  const Profile& profile = profile_;
  const PageOptions& options = options_;
  const bool sampled = profile.tracker.sample_bytes != 0;
  auto pair = [](const Count& count) { return Json::array({count.bytes, count.allocations}); };
  Strings strings;
  Json frames = FramesJson(tree.frames, options, strings);
  Json functions = FunctionsJson(functions_, rows.threads, sampled, strings);
  Json data = {{"schema", 1},
               {"memprof", MEMPROF_VERSION},
               {"mode", NameOf(options.mode)},
               {"capture", options.capture},
               {"program", ProgramJson(profile)},
               {"totals",
                {{"peak", pair(profile.peak)},
                 {"leaked", pair(profile.leaked)},
                 {"total", pair(profile.total)},
                 {"temporary", pair(profile.temporary)}}},
               {"temporary_threshold", profile.tracker.temporary_threshold},
               {"kept_by_design", pair(SumKeptByRuntime(profile))},
               {"of_running_threads", pair(SumOfRunningThreads(profile))},
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
  AddMemory(profile, data);
  AddHistory(profile, tree, limits.max_history_bytes, data);
  return EscapedForScript(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string PageData(const Profile& profile, const PageOptions& options) {
  DataWriter writer(profile, options);
  // The tree's limits are estimates; the page's limit counts the bytes written.
  for (PageLimits limits = options.limits;;) {
    Data data = writer.Write(limits);
    if (data.json.size() <= options.max_data_bytes || data.nodes <= kFewestNodes) return data.json;
    const double too_large =
        static_cast<double>(data.json.size()) / static_cast<double>(options.max_data_bytes);
    limits.max_nodes = std::max(
        kFewestNodes, static_cast<size_t>(0.9 * static_cast<double>(data.nodes) / too_large));
  }
}

}  // namespace memprof
