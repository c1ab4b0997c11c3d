// GitLab's code quality report: an array of issues. By their fingerprints a merge request
// recognises new ones.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/budget/finding_place.h"
#include "cli/budget/report_formats.h"
#include "formats/export/json_export.h"

namespace memprof {

std::string GitlabReport(const CheckReport& report, const TextStyle&) {
  nlohmann::ordered_json issues = nlohmann::ordered_json::array();
  for (const OverItem& over : ItemsOver(report)) {
    const FindingPlace place = PlaceOfFinding(report, *over.item);
    std::string description = TitleOf(*over.item) + " " + over.item->says;
    if (!over.item->contributors.rows.empty()) {
      description += ", most in " + over.item->contributors.rows[0].function;
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
