#include "cli/reports/tree/tree_data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "formats/export/csv_line.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {
  size_t parent = 0;  // of the root itself
  size_t depth = 0;
  CallTreeLine line;
};

// Depth first, without recursion: a tree may be deeper than our stack.
std::vector<Entry> Entries(const CallTree& tree) {
  const CallTreeNode& root = tree.nodes()[0];
  std::vector<Entry> entries;
  std::vector<Entry> open = {{0, 0, {0, root.figure, root.total_bytes, root.variance, ""}}};
  while (!open.empty()) {
    Entry entry = std::move(open.back());
    open.pop_back();
    const size_t index = entries.size();
    const bool row = entry.line.node == 0 && index != 0;
    const uint32_t node = entry.line.node;
    const size_t depth = entry.depth + 1;
    entries.push_back(std::move(entry));
    if (row) continue;
    std::vector<CallTreeLine> lines = tree.LinesBelow(tree.nodes()[node]);
    for (size_t i = lines.size(); i-- > 0;) open.push_back({index, depth, std::move(lines[i])});
  }
  return entries;
}

CallTreeName NameOf(const CallTree& tree, const Entry& entry) {
  if (entry.line.node == 0 && entry.depth != 0) return {entry.line.label, ""};
  return tree.NameOf(tree.nodes()[entry.line.node]);
}

// For a node; a row without one has none.
Count RunningOf(const CallTree& tree, const Entry& entry) {
  const bool is_row = entry.line.node == 0 && entry.depth != 0;
  return is_row ? Count() : tree.nodes()[entry.line.node].of_running_threads;
}

uint32_t CallsOf(const CallTree& tree, const Entry& entry) {
  return entry.line.node == 0 ? 1 : tree.nodes()[entry.line.node].calls;
}

}  // namespace

std::string TreeJson(const Profile& profile, const CallTreeOptions& options) {
  const CallTree tree(profile, options);
  Json json = StatsObject(profile);
  json["notes"] = profile.notes;
  json["figure"] = NameOf(options.figure);
  json["direction"] = options.bottom_up ? "bottom-up" : "top-down";
  Json& nodes = json["nodes"] = Json::array();
  for (const Entry& entry : Entries(tree)) {
    const CallTreeName name = NameOf(tree, entry);
    Json node = {{"parent", entry.depth == 0 ? Json() : Json(entry.parent)},
                 {"function", name.function},
                 {"file", name.file},
                 {"line", name.line},
                 {"module", name.module}};
    node.update(
        FigureObject(entry.line.figure, entry.line.variance, profile.tracker.sample_bytes != 0));
    node["total"] = {{"bytes", entry.line.total_bytes}};
    node["calls"] = CallsOf(tree, entry);
    if (const Count running = RunningOf(tree, entry); running != Count()) {
      node["of_running_threads"] = CountObject(running);
    }
    nodes.push_back(std::move(node));
  }
  return JsonText(json);
}

std::string TreeCsv(const Profile& profile, const CallTreeOptions& options) {
  const CallTree tree(profile, options);
  const bool estimates = profile.tracker.sample_bytes != 0;
  std::vector<std::string> line = {"node", "parent", "depth", "function", "file", "line", "module"};
  AddFigureHeading(line, options.figure, estimates);
  line.push_back("total_bytes");
  line.push_back("calls");
  std::string text = CsvLine(line);
  size_t index = 0;
  for (const Entry& entry : Entries(tree)) {
    const CallTreeName name = NameOf(tree, entry);
    line = {fmt::format("{}", index++),
            entry.depth == 0 ? "" : fmt::format("{}", entry.parent),
            fmt::format("{}", entry.depth),
            name.function,
            name.file,
            name.line != 0 ? fmt::format("{}", name.line) : "",
            name.module};
    AddFigureFields(line, entry.line.figure, entry.line.variance, estimates);
    line.push_back(fmt::format("{}", entry.line.total_bytes));
    line.push_back(fmt::format("{}", CallsOf(tree, entry)));
    text += CsvLine(line);
  }
  return text;
}

}  // namespace memprof
