#include "cli/live/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/terminal/text_table.h"
#include "core/region/region_reader.h"
#include "core/units.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

std::string Signed(int64_t bytes) {
  if (bytes == 0) return "0";
  const uint64_t size =
      bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  return (bytes < 0 ? "-" : "+") + FormatBytes(size);
}

std::string Rate(double a_second) {
  return FormatCount(static_cast<uint64_t>(std::llround(std::max(a_second, 0.0))));
}

struct Sum {
  LiveFigures now;
  int64_t change = 0, minute = 0;
  double rate = 0;
  void Add(const LiveRow& row) {
    now += row.now;
    change += row.change;
    minute += row.minute;
    rate += row.allocations_a_second;
  }
};

Json CountJson(const Count& count) {
  return {{"bytes", count.bytes}, {"allocations", count.allocations}};
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The heap of the shown processes, read from their regions.
struct Heap {
  uint64_t live_bytes = 0, peak_bytes = 0;
};
Heap HeapOf(const ShownRun& run) {
  Heap heap;
  for (const ShownProcess& process : run.processes) {
    const auto word = ReadPeak(process.region);
    if (!word) continue;
    heap.live_bytes += static_cast<uint64_t>(std::max<int64_t>(word->current, 0));
    heap.peak_bytes += word->peak;
  }
  return heap;
}

std::string NameOfRun(const ShownRun& run) {
  return run.processes.empty() ? "(nothing counts yet)" : run.processes[0].program;
}

}  // namespace

std::string LiveHeadText(const LiveSession& session) {
  const LiveFigures totals = session.table().totals();
  std::string text = fmt::format("{} {}", Printable(session.program()), session.run().program);
  if (session.process() != 0) text += fmt::format(", process {}", session.process());
  if (session.process() == 0 && session.run().living > 1) {
    text += fmt::format(", {} processes", session.run().living);
  }
  text += session.ended() ? ", ended after " : ", ";
  text += FormatDuration(session.running_ms());
  text += fmt::format("   {} {}", session.table().has_baseline() ? "since now" : "heap",
                      FormatBytes(totals.live.bytes));
  if (!session.table().has_baseline()) text += "   peak " + FormatBytes(totals.peak.bytes);
  if (session.rss_bytes() != 0) text += "   RSS " + FormatBytes(session.rss_bytes());
  text += fmt::format("   {} allocations/s", Rate(session.table().allocations_a_second()));
  if (!session.trouble().empty()) text += "   no connection: " + Printable(session.trouble());
  return text;
}

std::string LiveTableText(const LiveSession& session, const LiveView& view, size_t rows,
                          const TextStyle& style) {
  const bool places = view.by == LiveBy::kPlace || view.by == LiveBy::kFunction;
  TextTable table(
      {"live", "change", "/min", "blocks", "alloc/s", "peak", "share"}, style,
      {view.by == LiveBy::kPlace ? "function" : NameOf(view.by), places ? "place" : "", {}});
  const LiveFigures totals = session.table().totals();
  const auto add = [&](const Sum& sum, std::string name, std::string place) {
    table.Add(
        {{FormatBytes(sum.now.live.bytes), Signed(sum.change), Signed(sum.minute),
          FormatCount(sum.now.live.allocations), Rate(sum.rate), FormatBytes(sum.now.peak.bytes),
          FormatShare(sum.now.live.bytes, totals.live.bytes)},
         std::move(name),
         std::move(place)});
  };
  const std::vector<LiveRow> all = session.table().Rows(view);
  Sum others, whole;
  size_t shown = 0;
  for (const LiveRow& row : all) {
    whole.Add(row);
    if (rows != 0 && shown == rows) {
      others.Add(row);
      continue;
    }
    ++shown;
    Sum sum;
    sum.Add(row);
    add(sum, Printable(row.name), Printable(row.place));
  }
  // Rows with what is called overlap: they have no sum.
  if (!view.inclusive) {
    if (shown < all.size()) add(others, fmt::format("others ({})", all.size() - shown), "");
    add(whole, view.filter.empty() ? "total" : "of those", "");
  }
  return table.Text();
}

std::string LiveJson(const LiveSession& session, const LiveView& view, size_t rows) {
  const LiveFigures totals = session.table().totals();
  Json json = {{"schema", 1},
               {"pid", session.run().program},
               {"program", session.program()},
               {"capture", session.run().capture},
               {"processes", session.run().living},
               {"ended", session.ended()},
               {"running_ms", session.running_ms()},
               {"rss_bytes", session.rss_bytes()},
               {"allocations_per_second", session.table().allocations_a_second()},
               {"live", CountJson(totals.live)},
               {"peak", CountJson(totals.peak)},
               {"total", CountJson(totals.total)},
               {"by", NameOf(view.by)},
               {"inclusive", view.inclusive}};
  Json& array = json["rows"] = Json::array();
  for (const LiveRow& row : session.table().Rows(view)) {
    if (rows != 0 && array.size() == rows) break;
    array.push_back({{"name", row.name},
                     {"place", row.place},
                     {"module", row.module},
                     {"live", CountJson(row.now.live)},
                     {"change_bytes", row.change},
                     {"minute_bytes", row.minute},
                     {"peak", CountJson(row.now.peak)},
                     {"total", CountJson(row.now.total)},
                     {"allocations_per_second", row.allocations_a_second}});
  }
  return Text(json);
}

std::string RunsText(const std::vector<ShownRun>& runs, const TextStyle& style) {
  if (runs.empty()) return "no memprof run of this user is alive\n";
  TextTable table({"pid", "heap", "peak", "processes"}, style, {"program", "capture", {}});
  for (const ShownRun& run : runs) {
    const Heap heap = HeapOf(run);
    std::string name = NameOfRun(run);
    if (!run.processes.empty()) {
      name += ", since " + FormatUtcTime(run.processes[0].start_unix_ms).substr(0, 19) + "Z";
    }
    std::string where = Printable(run.capture);
    if (!run.address.empty()) where += ", " + Printable(run.address);
    table.Add({{fmt::format("{}", run.program), FormatBytes(heap.live_bytes),
                FormatBytes(heap.peak_bytes), FormatCount(run.living)},
               Printable(name),
               std::move(where)});
  }
  return table.Text();
}

std::string RunsJson(const std::vector<ShownRun>& runs) {
  Json json = {{"schema", 1}, {"runs", Json::array()}};
  for (const ShownRun& run : runs) {
    const Heap heap = HeapOf(run);
    json["runs"].push_back(
        {{"pid", run.program},
         {"supervisor", run.supervisor},
         {"program", run.processes.empty() ? "" : run.processes[0].program},
         {"start", run.processes.empty() ? "" : FormatUtcTime(run.processes[0].start_unix_ms)},
         {"live_bytes", heap.live_bytes},
         {"peak_bytes", heap.peak_bytes},
         {"processes", run.living},
         {"capture", run.capture},
         {"address", run.address}});
  }
  return Text(json);
}

}  // namespace memprof
