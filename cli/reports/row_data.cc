#include "cli/reports/row_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/export/csv_line.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

template <typename Row>
Json RowObject(const Row& row, const Profile& profile) {
  const bool estimates = profile.tracker.sample_bytes != 0;
  Json json = {{"function", row.function},
               {"file", row.file},
               {"line", row.line},
               {"module", row.module},
               {"peak", FigureObject(row.peak, row.variances.peak, estimates)},
               {"leaked", FigureObject(row.leaked, row.variances.leaked, estimates)},
               {"total", FigureObject(row.total, row.variances.total, estimates)}};
  if (profile.tracker.temporary_threshold != 0) {
    json["temporary"] = FigureObject(row.temporary, row.variances.temporary, estimates);
  }
  if (row.of_running_threads != Count()) {
    json["leaked_of_running_threads"] = CountObject(row.of_running_threads);
  }
  return json;
}

// The first `limit` rows, and the sum of the others.
std::vector<LocationRow> Limited(const std::vector<LocationRow>& rows, size_t limit) {
  if (limit == 0 || rows.size() <= limit) return rows;
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(limit);
  std::vector<LocationRow> limited(rows.begin(), end);
  LocationRow others;
  others.function = "[others]";
  for (auto row = end; row != rows.end(); ++row) {
    AddFigures(others, *row);
    others.variances += row->variances;
    others.of_running_threads += row->of_running_threads;
    others.stacks += row->stacks;
  }
  limited.push_back(std::move(others));
  return limited;
}

template <typename Row>
std::vector<std::string> Fields(const Row& row, bool estimates) {
  std::vector<std::string> fields = {row.function, row.file,
                                     row.line != 0 ? fmt::format("{}", row.line) : "", row.module};
  for (const Figure figure : kAllFigures) {
    AddFigureFields(fields, FigureOf(row, figure), FigureOf(row.variances, figure), estimates);
  }
  return fields;
}

}  // namespace

std::string RowsJson(const Profile& profile, const std::vector<LocationRow>& rows, Figure figure,
                     size_t limit) {
  Json json = StatsObject(profile);
  json["notes"] = profile.notes;
  json["figure"] = NameOf(figure);
  Json& array = json["rows"] = Json::array();
  for (const LocationRow& row : Limited(rows, limit)) {
    Json entry = RowObject(row, profile);
    entry["stacks"] = row.stacks;
    for (const CallerRow& caller : row.callers) {
      entry["callers"].push_back(RowObject(caller, profile));
    }
    array.push_back(std::move(entry));
  }
  return JsonText(json);
}

std::string RowsCsv(const Profile& profile, const std::vector<LocationRow>& rows, size_t limit) {
  const bool estimates = profile.tracker.sample_bytes != 0;
  const bool callers = std::any_of(rows.begin(), rows.end(),
                                   [](const LocationRow& row) { return !row.callers.empty(); });
  std::vector<std::string> heading = {"function", "file", "line", "module"};
  for (const Figure figure : kAllFigures) AddFigureHeading(heading, figure, estimates);
  if (callers) {
    for (const char* column : {"caller", "caller_file", "caller_line", "caller_module"}) {
      heading.push_back(column);
    }
  }
  std::string text = CsvLine(heading);
  for (const LocationRow& row : Limited(rows, limit)) {
    if (row.callers.empty()) {
      std::vector<std::string> fields = Fields(row, estimates);
      fields.resize(heading.size());
      text += CsvLine(fields);
    }
    // A line has only the caller's part of the row, so that lines sum to the totals.
    for (const CallerRow& caller : row.callers) {
      std::vector<std::string> fields = Fields(caller, estimates);
      const std::vector<std::string> names(fields.begin(), fields.begin() + 4);
      fields.insert(fields.end(), names.begin(), names.end());
      fields[0] = row.function;
      fields[1] = row.file;
      fields[2] = row.line != 0 ? fmt::format("{}", row.line) : "";
      fields[3] = row.module;
      text += CsvLine(fields);
    }
  }
  return text;
}

}  // namespace memprof
