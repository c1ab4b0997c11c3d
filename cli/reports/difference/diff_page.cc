#include "cli/reports/difference/diff_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/reports/exactness.h"
#include "cli/reports/rows.h"
#include "cli/web/diff_tree.h"
#include "cli/web/embedded_json.h"
#include "cli/web/page_template.h"
#include "core/base_name.h"
#include "core/units.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

template <typename Counts>
void AddFigures(Json& json, const Counts& before, const Counts& after) {
  for (const Figure figure : kAllFigures) {
    const Count& old = FigureOf(before, figure);
    const Count& now = FigureOf(after, figure);
    json[NameOf(figure)] = {old.bytes, old.allocations, now.bytes, now.allocations};
  }
}

Json FiguresJson(const Profile& before, const Profile& after) {
  Json figures = Json::array();
  for (const Figure figure : KnownFigures(before, after)) figures.push_back(NameOf(figure));
  return figures;
}

Json SideJson(const DiffSide& side) {
  const SnapshotProgram& program = side.profile->program;
  std::vector<std::string> warnings;
  for (const std::string& line : ProcessLines(*side.profile))
    warnings.push_back("processes: " + line);
  for (std::string& line : ExactnessNotes(*side.profile)) warnings.push_back(std::move(line));
  if (!side.note.empty()) warnings.push_back(side.note);
  if (const uint64_t sample = side.profile->tracker.sample_bytes; sample != 0) {
    warnings.push_back("sampled: " + SamplingText(sample));
  }
  return {{"capture", std::filesystem::path(side.name).filename().string()},
          {"program", program.program},
          {"run", fmt::format("pid {}, {}, {}", program.pid, FormatUtcTime(program.start_unix_ms),
                              RunText(program))},
          {"warnings", warnings},
          {"notes", side.profile->notes}};
}

// The location's callers, outwards, for a reader who knows the stack.
std::string CallersOf(const DiffRow& row) {
  std::vector<std::string> names;
  for (size_t i = row.location + 1; i < row.stack.size(); ++i) {
    const DiffFrame& frame = row.stack[i];
    if (ClassifyFrame(frame.function, frame.module) == FrameKind::kSystem) continue;
    if (names.empty() || names.back() != frame.function) names.push_back(frame.function);
  }
  return fmt::format("{}", fmt::join(names, " ← "));
}

uint64_t LargestChange(const DiffRow& row) {
  uint64_t largest = 0;
  for (const Figure figure : kAllFigures) {
    const Count& before = FigureOf(row.before, figure);
    const Count& after = FigureOf(row.after, figure);
    largest = std::max({largest,
                        std::max(before.bytes, after.bytes) - std::min(before.bytes, after.bytes),
                        std::max(before.allocations, after.allocations) -
                            std::min(before.allocations, after.allocations)});
  }
  return largest;
}

Json TableJson(const Profile& before, const Profile& after, DiffBy by, size_t max_rows) {
  std::vector<DiffRow> rows = DiffRows(before, after, by);
  std::stable_sort(rows.begin(), rows.end(), [](const DiffRow& a, const DiffRow& b) {
    return LargestChange(a) > LargestChange(b);
  });
  Json table = Json::array();
  DiffRow rest[2];  // others, unchanged
  size_t counts[2] = {};
  for (const DiffRow& row : rows) {
    const bool same = LargestChange(row) == 0;
    if (same || table.size() >= max_rows) {
      ++counts[same];
      for (DiffFigures DiffRow::*side : {&DiffRow::before, &DiffRow::after}) {
        AddFigures(rest[same].*side, row.*side);
      }
      continue;
    }
    const std::string module(BaseName(row.module));
    Json entry = {
        {"name", row.function.empty() ? module : row.function},
        {"place",
         row.function.empty() ? "" : PlaceOf(row.function, row.file, row.line, row.module, 2)},
        {"module", row.module},
        {"callers", CallersOf(row)}};
    AddFigures(entry, row.before, row.after);
    table.push_back(std::move(entry));
  }
  for (const size_t same : {size_t{0}, size_t{1}}) {
    if (counts[same] == 0) continue;
    Json entry = {{"name", same != 0 ? "unchanged" : "others"}, {"rows", counts[same]}};
    AddFigures(entry, rest[same].before, rest[same].after);
    table.push_back(std::move(entry));
  }
  return table;
}

bool HasFigure(const DiffTreeNode& node) {
  for (const Figures* counts : {&node.before, &node.after}) {
    for (const Figure figure : kAllFigures) {
      if (FigureOf(*counts, figure) != Count()) return true;
    }
  }
  return false;
}

void AddTree(Json& data, const DiffTree& tree) {
  data["pruned_nodes"] = tree.pruned_nodes;
  Json& frames = data["frames"] = {
      {"function", Json::array()}, {"module", Json::array()}, {"kind", Json::array()}};
  for (const DiffTreeFrame& frame : tree.frames) {
    frames["function"].push_back(frame.function);
    frames["module"].push_back(frame.module);
    frames["kind"].push_back(static_cast<int>(frame.kind));
  }
  Json& nodes = data["nodes"] = {{"parent", Json::array()}, {"frame", Json::array()}};
  Json& own = data["own"] = {{"node", Json::array()}};
  for (const Figure figure : kAllFigures) own[NameOf(figure)] = Json::array();
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const DiffTreeNode& node = tree.nodes[i];
    nodes["parent"].push_back(node.parent);
    nodes["frame"].push_back(node.frame);
    if (!HasFigure(node)) continue;
    own["node"].push_back(i);
    Json figures;
    AddFigures(figures, node.before, node.after);
    for (const Figure figure : kAllFigures) {
      own[NameOf(figure)].push_back(std::move(figures[NameOf(figure)]));
    }
  }
}

}  // namespace

std::string DiffPageData(const DiffSide& before, const DiffSide& after,
                         const DiffPageOptions& options) {
  const Profile& old = *before.profile;
  const Profile& now = *after.profile;
  Json data = {{"schema", 1},
               {"memprof", MEMPROF_VERSION},
               {"figures", FiguresJson(old, now)},
               {"figure", NameOf(options.figure)},
               {"by", NameOf(options.by)},
               {"before", SideJson(before)},
               {"after", SideJson(after)},
               {"estimates", old.tracker.sample_bytes != 0 || now.tracker.sample_bytes != 0}};
  AddFigures(data["totals"], FiguresOf(old), FiguresOf(now));
  AddTree(data, MakeDiffTree(old, now, options.max_nodes));
  for (const DiffBy by : kAllDiffBys) {
    data["tables"][NameOf(by)] = TableJson(old, now, by, options.max_rows);
  }
  return EscapedForScript(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string MakeDiffPage(const DiffSide& before, const DiffSide& after,
                         const DiffPageOptions& options) {
  return FilledPage(DiffPageTemplate(), DiffPageData(before, after, options));
}

}  // namespace memprof
