// Workflow commands of GitHub Actions: "::error file=a.cc,line=12,title=…::message". GitHub shows
// the first ten of a step. So the heaviest come first, and the tenth says how many are left.

#include <fmt/format.h>

#include "cli/budget/finding_place.h"
#include "cli/budget/report_formats.h"

namespace memprof {
namespace {

constexpr size_t kMostAnnotations = 10;
constexpr size_t kRowsOfFinding = 3;

std::string Escaped(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    escaped += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return escaped;
}

std::string Annotation(const FindingPlace& place, const std::string& title, std::string message) {
  while (message.ends_with('\n')) message.pop_back();
  std::string properties = "file=" + Escaped(Printable(place.file), true);
  if (place.line != 0) properties += fmt::format(",line={}", place.line);
  return fmt::format("::error {},title={}::{}\n", properties, Escaped(Printable(title), true),
                     Escaped(message, false));
}

}  // namespace

std::string GithubReport(const CheckReport& report, const TextStyle&) {
  std::string text;
  size_t annotations = 0;
  for (const CaptureCheck& check : report.captures) {
    if (check.error.empty() || annotations + 1 == kMostAnnotations) continue;
    text += Annotation({RelativeToCheckout(report.budget), 0}, "a capture can't be read",
                       Printable(check.error));
    ++annotations;
  }
  const std::vector<OverItem> over = ItemsOver(report);
  for (size_t i = 0; i < over.size(); ++i) {
    const size_t left = over.size() - i;
    if (annotations + 1 == kMostAnnotations && left > 1) {
      text += Annotation({RelativeToCheckout(report.budget), 0}, "more is over budget",
                         fmt::format("and {} more over budget: see the summary", left));
      break;
    }
    text += Annotation(PlaceOfFinding(report, *over[i].item), "memprof: " + TitleOf(*over[i].item),
                       FindingText(report, over[i], kRowsOfFinding));
    ++annotations;
  }
  return text;
}

}  // namespace memprof
