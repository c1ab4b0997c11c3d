#include "cli/web/page_processes.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cli/web/page_columns.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostCommandBytes = 2000;

Json EndJson(const SnapshotProgram& program) {
  Json end = {{"kind", NameOf(program.end_kind)}, {"code", program.end_code}};
  if (program.end_kind == EndKind::kSignal) {
    const char* name = sigabbrev_np(static_cast<int>(program.end_code));
    end["signal"] = name != nullptr ? std::string("SIG") + name : std::string("signal");
  }
  return end;
}

// The first words of a long command.
std::vector<std::string> ShortCommand(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  size_t bytes = 0;
  for (const std::string& word : command) {
    if ((bytes += word.size()) > kMostCommandBytes) {
      words.emplace_back("…");
      break;
    }
    words.push_back(word);
  }
  return words;
}

// A moment replaces the peak of all processes together; then no process is known apart.
bool IsApart(const Profile& profile, size_t i) {
  return !profile.chosen && i < profile.processes.size() &&
         profile.processes[i].kind == SnapshotProcess::Kind::kApart;
}

// Those kept apart first, each by their peaks.
std::vector<size_t> Listed(const Profile& profile) {
  std::vector<size_t> order;
  for (size_t i = 0; i < profile.sources.size(); ++i) order.push_back(i);
  const auto rank = [&](size_t i) {
    return std::pair(IsApart(profile, i), profile.sources[i].peak.bytes);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank(a) > rank(b); });
  size_t kept = std::min(order.size(), kMostListedProcesses);
  while (kept < order.size() && IsApart(profile, order[kept])) ++kept;
  order.resize(kept);
  return order;
}

}  // namespace

Json ProgramObject(const SnapshotProgram& program) {
  return {{"program", program.program},
          {"pid", program.pid},
          {"command", program.command},
          {"start_ms", program.start_unix_ms},
          {"duration_ms", program.duration_ms},
          {"end", EndJson(program)},
          {"peak_time_ms", program.peak_time_ms},
          {"peak_time_resolution_ms", program.peak_time_resolution_ms},
          {"rss_peak_bytes", program.rss_peak_bytes}};
}

Json ProcessesJson(const Profile& profile, const PageTree& tree, const PageRows& rows,
                   const PageFunctions& functions) {
  if (profile.sources.empty()) return nullptr;
  Json listed = Json::array();
  Figures apart;
  size_t apart_count = 0;
  for (const size_t i : Listed(profile)) {
    Json process = ProgramObject(profile.sources[i].program);
    process["command"] = ShortCommand(profile.sources[i].program.command);
    process["own_peak"] = CountJson(profile.sources[i].peak);
    if (IsApart(profile, i)) {
      const ProfileProcess& figures = profile.processes[i];
      AddFigures(apart, figures);
      ++apart_count;
      process["totals"] = FiguresJson(figures);
      const std::vector<PageRow> own = RowsOfProcess(profile, tree, rows, figures);
      process["own"] = {{"node", Column(own, [](const PageRow& row) { return row.node; })}};
      AddColumns(own, rows.threads, process["own"]);
      const FunctionTables& tables = functions.processes[i];
      process["functions"] = {{"self", FunctionColumns(tables.self, rows.threads)},
                              {"located", FunctionColumns(tables.located, rows.threads)},
                              {"inclusive", FunctionColumns(tables.inclusive, rows.threads)}};
    }
    listed.push_back(std::move(process));
  }
  Figures together;
  AddFigures(together, profile);
  for (const Figure figure : kAllFigures) {
    Count& rest = FigureOf(together, figure);
    rest.bytes -= FigureOf(apart, figure).bytes;
    rest.allocations -= FigureOf(apart, figure).allocations;
  }
  return {{"count", profile.sources.size()},
          {"listed", std::move(listed)},
          {"together",
           {{"count", profile.sources.size() - apart_count}, {"totals", FiguresJson(together)}}}};
}

}  // namespace memprof
