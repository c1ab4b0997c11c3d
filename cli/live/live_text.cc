#include "cli/live/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/terminal/text_table.h"
#include "core/printable.h"
#include "core/region/region_reader.h"
#include "core/units.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kNothingCounts[] = "(nothing counts yet)";

// Narrower tables have short figures, so that 80 columns have them all and the names.
constexpr size_t kWide = 99;

// "754K": rounded, and at most five characters.
std::string ShortNumber(double value, double unit) {
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t at = 0;
  for (; value >= unit && at + 1 < std::size(kUnits); ++at) value /= unit;
  if (at > 0 && value < 9.95) return fmt::format("{:.1f}{}", value, kUnits[at]);
  return fmt::format("{:.0f}{}", value, kUnits[at]);
}

class ShownFigures {
 public:
  explicit ShownFigures(const TextStyle& style) : is_short_(style.width < kWide) {}

  std::string Bytes(uint64_t bytes) const {
    return is_short_ ? ShortNumber(static_cast<double>(bytes), 1024) : FormatBytes(bytes);
  }

  std::string Signed(int64_t bytes) const {
    if (bytes == 0) return "0";
    const uint64_t size =
        bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
    return (bytes < 0 ? "-" : "+") + Bytes(size);
  }

  std::string Number(uint64_t count) const {
    return is_short_ && count >= kShortFrom ? ShortNumber(static_cast<double>(count), 1000)
                                            : FormatCount(count);
  }

  std::string Rate(double a_second) const {
    return Number(static_cast<uint64_t>(std::llround(std::max(a_second, 0.0))));
  }

 private:
  static constexpr uint64_t kShortFrom = 100'000;
  const bool is_short_;
};

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

// A table of rows and sums.
class LiveTexts {
 public:
  LiveTexts(const LiveSession& session, const LiveView& view, const TextStyle& style)
      : figures_(style),
        total_bytes_(session.table().totals().live.bytes),
        table_(
            {"live", "change", "/min", "blocks", "alloc/s", "peak", "share"}, style,
            {view.by == LiveBy::kPlace || view.by == LiveBy::kSite ? "function" : NameOf(view.by),
             view.by == LiveBy::kPlace || view.by == LiveBy::kSite || view.by == LiveBy::kFunction
                 ? "place"
                 : "",
             {}}) {}

  void Add(const LiveRow& row, const std::string& before) {
    Sum sum;
    sum.Add(row);
    std::string name = row.name;
    if (!row.callers.empty()) name += " " + row.callers;
    Add(sum, before + Printable(name), Printable(row.place));
  }
  void Add(const Sum& sum, std::string name, std::string place = "") {
    table_.Add({{figures_.Bytes(sum.now.live.bytes), figures_.Signed(sum.change),
                 figures_.Signed(sum.minute), figures_.Number(sum.now.live.allocations),
                 figures_.Rate(sum.rate), figures_.Bytes(sum.now.peak.bytes),
                 FormatShare(sum.now.live.bytes, total_bytes_)},
                std::move(name),
                std::move(place)});
  }
  std::string Text() const { return table_.Text(); }

 private:
  const ShownFigures figures_;
  const uint64_t total_bytes_;
  TextTable table_;
};

Json CountJson(const Count& count) {
  return {{"bytes", count.bytes}, {"allocations", count.allocations}};
}

std::string Text(const Json& json) {
  return WithEscapedControls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
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
  return run.processes.empty() ? kNothingCounts : run.processes[0].program;
}

}  // namespace

std::string LiveHeadText(const LiveSession& session) {
  const LiveFigures totals = session.table().totals();
  const std::string program = session.program().empty() ? kNothingCounts : session.program();
  std::string text = fmt::format("{} {}", Printable(program), session.run().program);
  if (session.process() != 0) text += fmt::format(", process {}", session.process());
  if (session.process() == 0 && session.run().living > 1) {
    text += fmt::format(", {} processes", session.run().living);
  }
  text += session.ended() ? ", ended after " : ", ";
  text += FormatDuration(session.running_ms());
  text += fmt::format("   {} {}", session.table().has_baseline() ? "since now" : "heap",
                      FormatBytes(totals.live.bytes));
  if (!session.table().has_baseline()) text += "   peak " + FormatBytes(totals.peak.bytes);
  if (session.silent()) text += "   (its memprof doesn't answer)";
  if (session.rss_bytes() != 0) text += "   RSS " + FormatBytes(session.rss_bytes());
  text += fmt::format("   {} allocations/s",
                      ShownFigures({}).Rate(session.table().allocations_a_second()));
  if (!session.trouble().empty()) text += "   no connection: " + Printable(session.trouble());
  return text;
}

std::string LiveTableText(const LiveSession& session, const LiveView& view, size_t rows,
                          const TextStyle& style) {
  LiveTexts table(session, view, style);
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
    table.Add(row, "");
  }
  // Rows with what is called overlap: they have no sum.
  if (!view.inclusive) {
    if (shown < all.size()) table.Add(others, fmt::format("others ({})", all.size() - shown));
    table.Add(whole, view.filter.empty() ? "total" : "of those");
  }
  return table.Text();
}

std::string LiveLinesText(const LiveSession& session, const LiveView& view, const LiveLines& lines,
                          size_t first, size_t last, const TextStyle& style) {
  LiveTexts table(session, view, style);
  Sum whole;
  for (size_t i = 0; i < lines.lines().size(); ++i) {
    const LiveLines::Line& line = lines.lines()[i];
    const size_t depth = line.path.size() - 1;
    if (depth == 0) whole.Add(line.row);
    if (i < first || i >= last) continue;
    // At great depth the indent is cut, so that names keep their room.
    table.Add(line.row,
              std::string(2 * std::min<size_t>(depth, 8), ' ') + (line.is_open    ? "▾ "
                                                                  : line.can_open ? "▸ "
                                                                                  : "  "));
  }
  if (!view.inclusive) table.Add(whole, view.filter.empty() ? "  total" : "  of those");
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
    if (view.by == LiveBy::kSite) array.back()["callers"] = row.callers;
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
