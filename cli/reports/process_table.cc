#include "cli/reports/process_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {

std::string ProcessTable(const Profile& profile, Figure figure, const TextStyle& style) {
  constexpr size_t kMost = 10;
  std::vector<size_t> order;
  for (size_t i = 0; i < profile.processes.size(); ++i) {
    if (profile.processes[i].kind == SnapshotProcess::Kind::kApart) order.push_back(i);
  }
  if (order.empty() || profile.chosen) return {};
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return FigureOf(profile.processes[a], figure).bytes >
           FigureOf(profile.processes[b], figure).bytes;
  });
  if (order.size() > kMost) order.resize(kMost);

  const std::string sign = profile.tracker.sample_bytes != 0 ? "≈ " : "";
  std::vector<std::string> headings = {sign + "peak", sign + "leaked", sign + "total"};
  if (figure == Figure::kTemporary) headings.push_back(sign + "temporary");
  TextTable table(headings, style, {"process", {}, {}});
  const auto add = [&](const auto& figures, const std::string& name) {
    TextTable::Row row;
    for (const Figure one : kAllFigures) {
      if (row.figures.size() < headings.size()) {
        row.figures.push_back(FormatBytes(FigureOf(figures, one).bytes));
      }
    }
    row.function = name;
    table.Add(std::move(row));
  };
  ProfileProcess others;
  AddFigures(others, profile);
  for (const size_t i : order) {
    const SnapshotProgram& program = profile.sources[i].program;
    add(profile.processes[i], fmt::format("{} ({})", Printable(program.program), program.pid));
    for (const Figure one : kAllFigures) {
      Count& rest = FigureOf(others, one);
      rest.bytes -= FigureOf(profile.processes[i], one).bytes;
    }
  }
  if (const size_t more = profile.sources.size() - order.size(); more != 0) {
    add(others, fmt::format("other processes ({})", FormatCount(more)));
  }
  add(profile, "total");
  return "\n" + Bold("By process, each with its own peak", style) + "\n" + table.Text();
}

}  // namespace memprof
