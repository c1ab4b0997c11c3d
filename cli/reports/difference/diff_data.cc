#include "cli/reports/difference/diff_data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "formats/export/csv_line.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

Json ChangeObject(const DiffFigures& before, const DiffFigures& after, Figure figure,
                  bool estimates) {
  const Change change = ChangeOf(FigureOf(before, figure), FigureOf(after, figure));
  Json json = {{"bytes", change.bytes}, {"allocations", change.allocations}};
  if (estimates) {
    const Count error = StandardError(ChangeVariance(before, after, figure));
    json["standard_error"] = {{"bytes", error.bytes}, {"allocations", error.allocations}};
  }
  return json;
}

}  // namespace

std::string DiffJson(const Profile& before, const Profile& after, DiffBy by,
                     const std::vector<DiffRow>& rows,
                     const std::vector<RenamedFunction>& renamed) {
  const bool old_estimates = before.tracker.sample_bytes != 0;
  const bool new_estimates = after.tracker.sample_bytes != 0;
  const std::vector<Figure> figures = KnownFigures(before, after);
  Json json = {{"schema", 1},
               {"by", NameOf(by)},
               {"before", StatsObject(before)},
               {"after", StatsObject(after)}};
  for (const Figure figure : figures) {
    json["difference"][NameOf(figure)] =
        ChangeObject(FiguresOf(before), FiguresOf(after), figure, old_estimates || new_estimates);
  }
  Json& pairs = json["renamed"] = Json::array();
  for (const RenamedFunction& function : renamed) {
    pairs.push_back(
        {{"before", {{"function", function.before.function}, {"module", function.before.module}}},
         {"after", {{"function", function.after.function}, {"module", function.after.module}}}});
  }
  Json& array = json["rows"] = Json::array();
  for (const DiffRow& row : rows) {
    Json entry = {
        {"function", row.function}, {"module", row.module}, {"file", row.file}, {"line", row.line}};
    if (by == DiffBy::kSite) {
      Json& frames = entry["frames"] = Json::array();
      for (const DiffFrame& frame : row.stack) {
        frames.push_back({{"function", frame.function}, {"module", frame.module}});
      }
    }
    for (const Figure figure : figures) {
      entry[NameOf(figure)] = {
          {"before", FigureObject(FigureOf(row.before, figure),
                                  FigureOf(row.before.variances, figure), old_estimates)},
          {"after", FigureObject(FigureOf(row.after, figure), FigureOf(row.after.variances, figure),
                                 new_estimates)},
          {"difference",
           ChangeObject(row.before, row.after, figure, old_estimates || new_estimates)}};
    }
    array.push_back(std::move(entry));
  }
  return JsonText(json);
}

std::string DiffCsv(const Profile& before, const Profile& after, const std::vector<DiffRow>& rows) {
  const bool estimates = before.tracker.sample_bytes != 0 || after.tracker.sample_bytes != 0;
  const std::vector<Figure> figures = KnownFigures(before, after);
  std::vector<std::string> line = {"function", "file", "line", "module"};
  for (const Figure figure : figures) {
    for (const char* side : {"before", "after", "difference"}) {
      for (const char* unit : {"bytes", "allocations"}) {
        line.push_back(fmt::format("{}_{}_{}", NameOf(figure), side, unit));
      }
    }
    for (const char* unit : {"bytes", "allocations"}) {
      if (!estimates) break;
      line.push_back(fmt::format("{}_difference_{}_standard_error", NameOf(figure), unit));
    }
  }
  line.push_back("stack");  // by site: innermost first
  std::string text = CsvLine(line);
  for (const DiffRow& row : rows) {
    line = {row.function, row.file, row.line != 0 ? fmt::format("{}", row.line) : "", row.module};
    for (const Figure figure : figures) {
      const Count& old = FigureOf(row.before, figure);
      const Count& now = FigureOf(row.after, figure);
      const Change change = ChangeOf(old, now);
      line.push_back(fmt::format("{}", old.bytes));
      line.push_back(fmt::format("{}", old.allocations));
      line.push_back(fmt::format("{}", now.bytes));
      line.push_back(fmt::format("{}", now.allocations));
      line.push_back(fmt::format("{}", change.bytes));
      line.push_back(fmt::format("{}", change.allocations));
      if (!estimates) continue;
      const Count error = StandardError(ChangeVariance(row.before, row.after, figure));
      line.push_back(fmt::format("{}", error.bytes));
      line.push_back(fmt::format("{}", error.allocations));
    }
    std::vector<std::string> stack;
    for (const DiffFrame& frame : row.stack) stack.push_back(frame.function);
    line.push_back(fmt::format("{}", fmt::join(stack, " < ")));
    text += CsvLine(line);
  }
  return text;
}

}  // namespace memprof
