// GitLab's code quality report: an array of issues, each with a fingerprint by which a merge
// request knows what is new.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/budget/finding_place.h"
#include "cli/budget/report_formats.h"
#include "formats/json_export.h"

namespace memprof {

std::string GitlabReport(const CheckReport& report, const TextStyle&) {
  nlohmann::ordered_json issues = nlohmann::ordered_json::array();
  for (const OverItem& over : ItemsOver(report)) {
    const FindingPlace place = PlaceOfFinding(report, *over.item);
    std::string description = TitleOf(*over.item) + " " + over.item->says;
    if (!over.item->behind.rows.empty()) {
      description += ", most in " + over.item->behind.rows[0].function;
    }
    issues.push_back(
        {{"description", description},
         {"check_name", "memprof-" + over.item->check},
         {"fingerprint", over.item->fingerprint},
         {"severity", over.item->limit ? "major" : "minor"},
         {"location",
          {{"path", place.file}, {"lines", {{"begin", place.line != 0 ? place.line : 1}}}}}});
  }
  return JsonText(issues);
}

}  // namespace memprof
