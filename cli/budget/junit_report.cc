// JUnit's XML, for Jenkins, GitLab and others: a suite for each capture, a case for each check. A
// check that isn't judged is skipped; a capture that can't be read is a case in error.

#include <fmt/format.h>

#include "cli/budget/finding_place.h"
#include "cli/budget/report_formats.h"

namespace memprof {
namespace {

// Escapes text and attributes alike. Printable has removed the control characters, which XML can't
// represent; XML also excludes two other characters of Unicode.
std::string Xml(std::string_view line) {
  const std::string printable = Printable(line);
  std::string xml;
  for (size_t i = 0; i < printable.size(); ++i) {
    const std::string_view rest = std::string_view(printable).substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      xml += '?';
      i += 2;
      continue;
    }
    switch (printable[i]) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      default:
        xml += printable[i];
    }
  }
  return xml;
}

std::string XmlLines(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    xml += Xml(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return xml;
}

std::string Seconds(uint64_t milliseconds) {
  return fmt::format("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
}

struct Counts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string Attributes(const Counts& counts) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", counts.tests, counts.failures,
                     counts.errors);
}

Counts CountsOf(const CaptureCheck& check) {
  if (!check.error.empty()) return {1, 0, 1, 0};
  return {check.items.size(), CountOf(check, Standing::kOver), 0,
          CountOf(check, Standing::kNotJudged)};
}

std::string CaseOf(const CheckReport& report, const CaptureCheck& check, const CheckItem& item) {
  const std::string head =
      fmt::format("    <testcase classname=\"memprof.{}\" name=\"{}\" time=\"0\"",
                  Xml(check.program), Xml(TitleOf(item)));
  switch (item.standing) {
    case Standing::kOver:
      return fmt::format(
          "{}>\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n    </testcase>\n", head,
          Xml(item.says), Xml(item.check), XmlLines(FindingText(report, {&check, &item}, 5)));
    case Standing::kNotJudged:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head,
                         Xml(item.says));
    case Standing::kWithin:
      break;
  }
  return head + "/>\n";
}

std::string SuiteOf(const CheckReport& report, const CaptureCheck& check) {
  const Counts counts = CountsOf(check);
  std::string xml =
      fmt::format("  <testsuite name=\"{}\" {} skipped=\"{}\" time=\"{}\">\n", Xml(check.capture),
                  Attributes(counts), counts.skipped, Seconds(check.duration_ms));
  if (!check.error.empty()) {
    xml += fmt::format(
        "    <testcase classname=\"memprof\" name=\"readable\" time=\"0\">\n"
        "      <error message=\"{}\" type=\"unreadable\"/>\n    </testcase>\n",
        Xml(check.error));
  }
  for (const CheckItem& item : check.items) xml += CaseOf(report, check, item);
  std::string notes;
  for (const std::string& note : check.notes) notes += "note: " + note + "\n";
  if (!notes.empty()) xml += "    <system-out>" + XmlLines(notes) + "</system-out>\n";
  return xml + "  </testsuite>\n";
}

}  // namespace

std::string JunitReport(const CheckReport& report, const TextStyle&) {
  Counts all;
  for (const CaptureCheck& check : report.captures) {
    const Counts counts = CountsOf(check);
    all.tests += counts.tests;
    all.failures += counts.failures;
    all.errors += counts.errors;
  }
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites name=\"memprof\" {}>\n", Attributes(all));
  for (const CaptureCheck& check : report.captures) xml += SuiteOf(report, check);
  return xml + "</testsuites>\n";
}

}  // namespace memprof
