// The check as JSON, by docs/schemas/check.json.

#include <nlohmann/json.hpp>

#include "cli/budget/report_formats.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(Standing standing) {
  switch (standing) {
    case Standing::kOver:
      return "over";
    case Standing::kNotJudged:
      return "not judged";
    case Standing::kWithin:
      break;
  }
  return "within";
}

const char* NameOf(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "allocations";
    case Unit::kPercent:
      return "percent";
    case Unit::kBytesPerHour:
      return "bytes per hour";
    case Unit::kBytes:
      break;
  }
  return "bytes";
}

// A whole number if the value is one.
Json Number(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (value >= 0 && value <= kExact && value == static_cast<double>(static_cast<uint64_t>(value))) {
    return static_cast<uint64_t>(value);
  }
  return value;
}

Json ToJson(const Count& count) {
  return {{"bytes", count.bytes}, {"allocations", count.allocations}};
}

Json RowJson(const DiffRow& row, Figure figure, bool baseline) {
  Json frames = Json::array();
  for (const DiffFrame& frame : row.stack) {
    frames.push_back({{"function", frame.function}, {"module", frame.module}});
  }
  Json json = {{"function", row.function},
               {"module", row.module},
               {"file", row.file},
               {"line", row.line},
               {"now", ToJson(FigureOf(row.after, figure))}};
  if (baseline) json["before"] = ToJson(FigureOf(row.before, figure));
  json["frames"] = std::move(frames);
  return json;
}

void AddLimit(const CheckItem& item, bool baseline, Json& json) {
  const LimitVerdict& verdict = *item.limit;
  const LimitKind& kind = *verdict.limit->kind;
  const bool judged = verdict.standing != Standing::kNotJudged;
  json["unit"] = NameOf(kind.unit);
  json["written"] = verdict.limit->bound.text;
  json["value"] = judged ? Number(verdict.value) : Json();
  json["limit"] = judged ? Number(verdict.most) : Json();
  json["over_by"] =
      verdict.standing == Standing::kOver ? Number(verdict.value - verdict.most) : Json(0);
  json["baseline"] = verdict.baseline ? Number(*verdict.baseline) : Json();
  json["suppressed"] = Number(verdict.suppressed);
  if (verdict.of_running_threads > 0) {
    json["of_running_threads"] = Number(verdict.of_running_threads);
  }
  if (verdict.standard_error != 0) json["standard_error"] = verdict.standard_error;
  if (verdict.bound != 0) json["known_to_within"] = Number(verdict.bound);
  json["uncertain"] = verdict.uncertain;
  if (verdict.standing != Standing::kOver) return;
  json["stacks"] = Json::array();
  for (const DiffRow& row : item.contributors.rows) {
    json["stacks"].push_back(RowJson(row, kind.figure, baseline));
  }
  Json others = {{"stacks", item.contributors.others},
                 {"now", ToJson(FigureOf(item.contributors.others_after, kind.figure))}};
  if (baseline) others["before"] = ToJson(FigureOf(item.contributors.others_before, kind.figure));
  json["others"] = std::move(others);
}

Json CaptureJson(const CaptureCheck& check, bool baseline) {
  Json json = {{"capture", check.capture}};
  if (!check.error.empty()) {
    json["status"] = "unreadable";
    json["error"] = check.error;
    return json;
  }
  json["program"] = check.program;
  json["status"] = IsOver(check) ? "over" : "within";
  json["checks"] = Json::array();
  for (const CheckItem& item : check.items) {
    Json entry = {{"check", item.check},  {"of", item.subject},
                  {"line", item.line},    {"status", NameOf(item.standing)},
                  {"message", item.says}, {"fingerprint", item.fingerprint}};
    if (item.limit) AddLimit(item, baseline, entry);
    json["checks"].push_back(std::move(entry));
  }
  json["notes"] = check.notes;
  return json;
}

}  // namespace

std::string JsonReport(const CheckReport& report, const TextStyle&) {
  const bool baseline = !report.baseline.empty();
  Json json = {{"schema", 1},
               {"budget", report.budget},
               {"baseline", baseline ? Json(report.baseline) : Json()},
               {"status", IsUnreadable(report) ? "unreadable"
                          : IsOver(report)     ? "over"
                                               : "within"}};
  json["captures"] = Json::array();
  for (const CaptureCheck& check : report.captures) {
    json["captures"].push_back(CaptureJson(check, baseline));
  }
  return JsonText(json);
}

}  // namespace memprof
