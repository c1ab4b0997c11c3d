#include "cli/reports/growth/growth_text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "cli/reports/exactness.h"
#include "cli/reports/row_text.h"
#include "cli/reports/rows.h"
#include "cli/terminal/text_table.h"
#include "core/profile/inspection_rows.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kWide = 140;    // columns: room for folders
constexpr size_t kLevelled = 3;  // rows of what levels off
constexpr size_t kRose = 5;      // rows of what rose, where no place grows by itself

std::string LongDuration(uint64_t milliseconds) {
  constexpr uint64_t kDay = 24 * 3600 * 1000;
  if (milliseconds < 3 * kDay) return FormatDuration(milliseconds);
  return FormatCount(milliseconds / kDay) + " days";
}

// "3.5 ± 0.2 MiB"; if the error is too small for that, "3.5 MiB ± 12.0 KiB".
std::string RateText(const GrowthRate& rate) {
  const auto bytes = static_cast<uint64_t>(std::llround(std::abs(rate.bytes_per_hour)));
  const auto error = static_cast<uint64_t>(std::llround(rate.error));
  std::string text = FormatBytesWithError(bytes, error);
  if (text.find("± 0.0") != std::string::npos) {
    text = FormatBytes(bytes) + " ± " + FormatBytes(error);
  }
  return (rate.bytes_per_hour < 0 ? "-" : "") + text;
}

std::string UntilText(std::optional<uint64_t> ms) {
  if (!ms) return "never";
  return *ms == 0 ? "reached" : LongDuration(*ms);
}

// The summary of the rows that aren't shown individually.
struct Rest {
  uint64_t places = 0;
  Count live;
  double bytes_per_hour = 0, error = 0;
  void Add(const GrowthRow& row) {
    ++places;
    live += row.live;
    if (row.growth.verdict != GrowthVerdict::kGrows) return;
    const GrowthRate rate = RateOf(row.growth);
    bytes_per_hour += rate.bytes_per_hour;
    error = std::hypot(error, rate.error);
  }
};

class TextMaker {
 public:
  TextMaker(const Profile& profile, const GrowthReport& report, const GrowthTextOptions& options)
      : profile_(profile),
        report_(report),
        options_(options),
        estimates_(profile.tracker.sample_bytes != 0) {}

  std::string Head() const;
  // `live`: of all rows.
  std::string Table(const std::vector<GrowthRow>& rows, const Count& live) const;
  // What an inspection says of the places that grow.
  std::string HeldTable() const;
  // The places that rose most since the first judged moment of their sum; `sum_name`: "The heap".
  std::string RoseTable(const std::vector<GrowthRow>& rows, const Growth& sum,
                        const char* sum_name) const;

 private:
  std::vector<std::string> Figures(const std::string& rate, const std::string& live,
                                   const std::string& held,
                                   std::optional<double> bytes_per_hour) const;
  TextTable::Row RowOf(const GrowthRow& row, size_t folders, size_t names) const;
  void AddRest(const Rest& rest, const char* name, TextTable& table) const;
  bool IsShown(const GrowthRow& row, size_t before) const;

  const Profile& profile_;
  const GrowthReport& report_;
  const GrowthTextOptions& options_;
  const bool estimates_;
};

std::string VerdictText(const Growth& growth) {
  return fmt::format("{} ({})", VerdictName(growth.verdict), growth.reason);
}

std::string TextMaker::Head() const {
  const TextStyle& style = options_.style;
  std::string text;
  auto say = [&](const std::string& line) { text += Wrapped(line, 0, style.width); };
  const std::string name = Printable(profile_.program.program);
  if (report_.moments == 0) {
    say(name +
        ": no moments were kept, so nothing can be said; memprof run takes them while the "
        "program runs");
    return text;
  }
  say(fmt::format("{}: growth from {} to {}, by {} moments, one every {}", name,
                  FormatDuration(report_.from_ms), FormatDuration(report_.until_ms),
                  report_.moments, FormatDuration(report_.interval_ms)));
  if (report_.load_ended_ms) {
    say(fmt::format(
        "nothing has changed since {}: the load has ended, and no forecast is made from "
        "what came before",
        FormatDuration(*report_.load_ended_ms)));
  }
  const char* sign = estimates_ ? "≈ " : "";
  const Growth& program = report_.program;
  say(fmt::format("heap: {}{}; {}{} live at the last of them", VerdictText(program),
                  program.verdict == GrowthVerdict::kGrows
                      ? fmt::format(", {} an hour", RateText(RateOf(program)))
                      : std::string(),
                  sign, FormatBytes(report_.live.bytes)));
  if (report_.mapped) {
    say(fmt::format("mapped: {}{}; {} mapped at the last of them", VerdictText(*report_.mapped),
                    report_.mapped->verdict == GrowthVerdict::kGrows
                        ? fmt::format(", {} an hour", RateText(RateOf(*report_.mapped)))
                        : std::string(),
                    FormatBytes(report_.mapped_live.bytes)));
  }
  if (report_.beside_heap && report_.beside_heap->verdict == GrowthVerdict::kGrows) {
    say(
        fmt::format("RSS beside the live heap grows by {} an hour: fragmentation, or memory that "
                    "isn't the heap's",
                    RateText(RateOf(*report_.beside_heap))));
  }
  if (options_.limit_bytes && !report_.load_ended_ms) {
    const GrowthRate rate = SumOfGrowing(report_.rows);
    auto until = [&](double bytes_per_hour) {
      return TimeUntilMs(*options_.limit_bytes, report_.live.bytes, bytes_per_hour);
    };
    const auto when = until(rate.bytes_per_hour);
    std::string line = fmt::format("the limit of {}: ", FormatBytes(*options_.limit_bytes));
    if (!when) {
      line += rate.places == 0 ? "not reached, since nothing of the heap is seen to grow"
                               : "not in 1,000 years";
    } else if (*when == 0) {
      line += "reached";
    } else {
      const std::string soonest = UntilText(until(rate.bytes_per_hour + rate.error));
      const std::string latest = UntilText(until(rate.bytes_per_hour - rate.error));
      line += fmt::format("in {}{} at the rate of what grows", LongDuration(*when),
                          soonest == latest ? "" : fmt::format(" ({} to {})", soonest, latest));
    }
    say(line);
  }
  return text;
}

std::vector<std::string> TextMaker::Figures(const std::string& rate, const std::string& live,
                                            const std::string& held,
                                            std::optional<double> bytes_per_hour) const {
  std::vector<std::string> figures = {rate, live, held};
  if (options_.limit_bytes) {
    figures.push_back(
        bytes_per_hour && !report_.load_ended_ms
            ? UntilText(TimeUntilMs(*options_.limit_bytes, report_.live.bytes, *bytes_per_hour))
            : "-");
  }
  return figures;
}

TextTable::Row TextMaker::RowOf(const GrowthRow& row, size_t folders, size_t names) const {
  const bool grows = row.growth.verdict == GrowthVerdict::kGrows;
  TextTable::Row cells;
  // A row's live bytes are those of the whole place.
  const bool only_a_part = grows && row.growing_live != row.live;
  cells.figures =
      Figures(grows ? RateText(RateOf(row.growth)) : "-",
              FormatBytesWithError(row.live.bytes, row.error_bytes),
              row.live.bytes != 0 ? FormatDuration(row.growth.held_ms) : "-",
              grows && !row.mapped ? std::optional(row.growth.bytes_per_hour) : std::nullopt);
  cells.function = Printable(row.function);
  cells.place = Printable(PlaceOf(row.function, row.file, row.line, row.module, folders));
  const std::string part =
      only_a_part ? fmt::format("{} grow: ", FormatBytes(row.growing_live.bytes)) : std::string();
  cells.below = grows ? part + CallersText(profile_, row.heaviest_node,
                                           names - 2 - std::min(names - 2, part.size()))
                      : VerdictText(row.growth);
  return cells;
}

bool TextMaker::IsShown(const GrowthRow& row, size_t before) const {
  if (options_.all) return true;
  if (row.growth.verdict == GrowthVerdict::kGrows) {
    return options_.rows == 0 || before < options_.rows;
  }
  return row.growth.verdict == GrowthVerdict::kLevelsOff && before < kLevelled;
}

void TextMaker::AddRest(const Rest& rest, const char* name, TextTable& table) const {
  if (rest.places == 0) return;
  const bool grows = rest.bytes_per_hour != 0;
  table.Add({Figures(grows ? RateText({rest.bytes_per_hour, rest.error, rest.places}) : "-",
                     FormatBytes(rest.live.bytes), "-", std::nullopt),
             fmt::format("{} ({})", name, FormatCountOf(rest.places, "place")), "", ""});
}

std::string TextMaker::Table(const std::vector<GrowthRow>& rows, const Count& live) const {
  const TextStyle& style = options_.style;
  const size_t folders = style.width >= kWide ? 3 : 0;
  std::vector<std::string> headings = {"an hour ± 95 %", estimates_ ? "≈ live" : "live",
                                       "held for"};
  if (options_.limit_bytes) headings.push_back("limit in");
  TextTable table(headings, style);

  constexpr const char* kRestNames[] = {"others that grow", "others that level off", "steady",
                                        "undecided"};
  Rest rest[4];
  size_t shown[4] = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    const GrowthRow& row = rows[i];
    const auto verdict = static_cast<size_t>(row.growth.verdict);
    if (IsShown(row, shown[verdict])) {
      ++shown[verdict];
      // Callers are truncated to the available width.
      table.Add(RowOf(row, folders, style.width));
    } else {
      rest[verdict].Add(row);
    }
    const bool last = i + 1 == rows.size() || rows[i + 1].growth.verdict != row.growth.verdict;
    if (last) {
      const bool all_levelled =
          row.growth.verdict == GrowthVerdict::kLevelsOff && shown[verdict] == 0;
      AddRest(rest[verdict], all_levelled ? "level off" : kRestNames[verdict], table);
    }
  }
  const GrowthRate sum = SumOfGrowing(rows);
  table.Add({Figures(sum.places != 0 ? RateText(sum) : "-", FormatBytes(live.bytes), "-",
                     sum.places != 0 && &rows == &report_.rows ? std::optional(sum.bytes_per_hour)
                                                               : std::nullopt),
             "total", "", ""});
  return table.Text();
}

std::string TextMaker::RoseTable(const std::vector<GrowthRow>& rows, const Growth& sum,
                                 const char* sum_name) const {
  const std::vector<const GrowthRow*> rose = RowsThatRose(rows, sum);
  if (rose.empty()) return "";
  const TextStyle& style = options_.style;
  const size_t folders = style.width >= kWide ? 3 : 0;
  TextTable table({"rose by", estimates_ ? "≈ live" : "live"}, style);
  const size_t limit = options_.rows == 0 ? rose.size() : std::min(options_.rows, kRose);
  uint64_t rest = 0, rest_live = 0;
  for (size_t i = 0; i < rose.size(); ++i) {
    const GrowthRow& row = *rose[i];
    const auto rise = static_cast<uint64_t>(row.rise_bytes);
    if (i >= limit) {
      rest += rise;
      rest_live += row.live.bytes;
      continue;
    }
    table.Add({{FormatBytes(rise), FormatBytesWithError(row.live.bytes, row.error_bytes)},
               Printable(row.function),
               Printable(PlaceOf(row.function, row.file, row.line, row.module, folders)),
               CallersText(profile_, row.heaviest_node, style.width - 2)});
  }
  if (rose.size() > limit) {
    table.Add({{FormatBytes(rest), FormatBytes(rest_live)},
               fmt::format("others that rose ({})", FormatCountOf(rose.size() - limit, "place")),
               "",
               ""});
  }
  return "\n" +
         Bold(fmt::format("{} grows, no place is sure to by itself; these rose most since {}",
                          sum_name, FormatDuration(sum.warm_up_ms)),
              style) +
         "\n" + table.Text();
}

std::string TextMaker::HeldTable() const {
  const auto found = InspectionByPlace(profile_);
  if (found.empty()) return "";
  const TextStyle& style = options_.style;
  const size_t folders = style.width >= kWide ? 3 : 0;
  TextTable table({"lost", "held"}, style);
  size_t shown = 0;
  for (const GrowthRow& row : report_.rows) {
    if (row.growth.verdict != GrowthVerdict::kGrows || !IsShown(row, shown)) continue;
    const auto place = found.find({row.function, row.file, row.line, row.module});
    if (place == found.end()) continue;
    ++shown;
    const HeldFigures& figures = place->second.figures;
    const Count lost = figures.lost();
    const std::string by = PathText(place->second.held_by);
    const std::string below = !by.empty()       ? "held by " + by
                              : lost.bytes != 0 ? "nothing reaches it any more: a leak for certain"
                                                : "";
    table.Add({{FormatBytes(lost.bytes), FormatBytes(figures.reachable.bytes)},
               Printable(row.function),
               Printable(PlaceOf(row.function, row.file, row.line, row.module, folders)),
               Shortened(below, style.width - 2)});
  }
  if (shown == 0) return "";
  return "\n" +
         Bold(fmt::format("What holds it, by the inspection after {}",
                          FormatDuration(profile_.inspection.time_ms)),
              style) +
         "\n" + table.Text();
}

}  // namespace

std::string GrowthText(const Profile& profile, const GrowthReport& report,
                       const GrowthTextOptions& options) {
  const TextMaker maker(profile, report, options);
  std::string text = SamplingHead(profile, options.style) + maker.Head();
  if (report.moments == 0) return text;
  const bool any = SumOfGrowing(report.rows).places != 0;
  const bool mapped =
      std::any_of(report.mapped_rows.begin(), report.mapped_rows.end(),
                  [](const GrowthRow& row) { return row.growth.verdict == GrowthVerdict::kGrows; });
  const char* none = mapped ? "Nothing of the heap is seen to grow" : "Nothing is seen to grow";
  const std::string rose = maker.RoseTable(report.rows, report.program, "The heap");
  const char* heading = any ? "What grows, by place" : rose.empty() ? none : "All places";
  text += rose + "\n" + Bold(heading, options.style) + "\n" + maker.Table(report.rows, report.live);
  text += maker.HeldTable();
  const bool mapped_grows = SumOfGrowing(report.mapped_rows).places != 0;
  if (report.mapped) text += maker.RoseTable(report.mapped_rows, *report.mapped, "What is mapped");
  if (mapped_grows || (options.all && !report.mapped_rows.empty())) {
    text += "\n" +
            Bold(mapped_grows ? "What grows of the mapped memory, by place" : "Mapped memory",
                 options.style) +
            "\n" + maker.Table(report.mapped_rows, report.mapped_live);
  }
  return text;
}

}  // namespace memprof
