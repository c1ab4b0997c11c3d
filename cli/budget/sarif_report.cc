// SARIF 2.1.0: one run, a rule for each kind of check, a result for each item that is over, with
// the stack that contributes most.

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "cli/budget/finding_place.h"
#include "cli/budget/report_formats.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "https://json.schemastore.org/sarif-2.1.0.json";

// A reference by RFC 3986.
std::string UriOf(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/!$&'()*+,;=@";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       kPlain.find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json PhysicalLocation(const FindingPlace& place) {
  Json location = {{"artifactLocation", {{"uri", UriOf(place.file)}}}};
  if (place.line != 0) location["region"] = {{"startLine", place.line}};
  return location;
}

Json StackOf(const DiffRow& row) {
  Json frames = Json::array();
  for (const DiffFrame& frame : row.stack) {
    Json location = {{"message", {{"text", frame.function}}},
                     {"logicalLocations", {{{"fullyQualifiedName", frame.function}}}}};
    frames.push_back({{"location", std::move(location)}, {"module", frame.module}});
  }
  return {{"frames", std::move(frames)}};
}

Json Rule(const std::string& id, const std::string& text) {
  return {{"id", id}, {"shortDescription", {{"text", text}}}};
}

Json Rules() {
  Json rules = Json::array();
  for (const LimitKind& kind : LimitKinds()) {
    rules.push_back(Rule(kind.key, fmt::format("{} is over its budget", kind.key)));
  }
  rules.push_back(Rule("required-match", "nothing matches a rule that is required to"));
  rules.push_back(Rule("expired-suppression", "a suppression has expired"));
  return rules;
}

Json ResultOf(const CheckReport& report, const OverItem& over) {
  Json location = {{"physicalLocation", PhysicalLocation(PlaceOfFinding(report, *over.item))}};
  Json result = {{"ruleId", over.item->check},
                 {"level", "error"},
                 {"message", {{"text", FindingText(report, over, 3)}}},
                 {"locations", {std::move(location)}},
                 {"partialFingerprints", {{"memprof/v1", over.item->fingerprint}}}};
  const auto& rows = over.item->contributors.rows;
  if (!rows.empty() && !rows[0].stack.empty()) {
    result["stacks"] = Json::array({StackOf(rows[0])});
  }
  return result;
}

}  // namespace

std::string SarifReport(const CheckReport& report, const TextStyle&) {
  Json results = Json::array();
  for (const OverItem& over : ItemsOver(report)) results.push_back(ResultOf(report, over));
  Json failures = Json::array();
  for (const CaptureCheck& check : report.captures) {
    if (check.error.empty()) continue;
    failures.push_back({{"level", "error"}, {"message", {{"text", check.error}}}});
  }
  Json invocation = {{"executionSuccessful", failures.empty()},
                     {"toolExecutionNotifications", std::move(failures)}};
  Json driver = {{"name", "memprof"}, {"version", MEMPROF_VERSION}, {"rules", Rules()}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"invocations", Json::array({std::move(invocation)})},
              {"results", std::move(results)}};
  return JsonText(
      {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}});
}

}  // namespace memprof
