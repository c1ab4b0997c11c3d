// The check as a screen of text. However many captures and limits there are, it has at most
// kMostLines lines and the few of a capture's head.

#include <fmt/format.h>

#include <algorithm>

#include "cli/budget/contributors_text.h"
#include "cli/budget/report_formats.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kMostLines = 40;
constexpr size_t kIndent = 6;  // of lines that explain another

size_t LinesOf(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string Indented(const std::string& text, size_t indent) {
  std::string indented;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    indented += std::string(indent, ' ') + text.substr(at, end - at);
    at = end;
  }
  return indented;
}

std::string Limits(size_t count) { return FormatCountOf(count, "check"); }

std::string HeadOf(const CaptureCheck& check, const TextStyle& style) {
  if (!check.error.empty()) return Wrapped("unreadable: " + Printable(check.error), 0, style.width);
  const size_t over = CountOf(check, Standing::kOver);
  const size_t not_judged = CountOf(check, Standing::kNotJudged);
  std::string text = fmt::format("{} ({}): ", Printable(check.capture), Printable(check.program));
  text += over == 0 ? "within budget" : fmt::format("over budget in {}", Limits(over));
  text += fmt::format(", {} within", CountOf(check, Standing::kWithin));
  if (not_judged != 0) text += fmt::format(", {} not judged", not_judged);
  return over == 0 ? text + "\n" : Bold(text, style) + "\n";
}

std::string ItemLine(const CheckItem& item, const TextStyle& style) {
  const std::string head = item.standing == Standing::kOver        ? "over  "
                           : item.standing == Standing::kNotJudged ? "-     "
                                                                   : "ok    ";
  std::string text =
      head + Wrapped(Printable(TitleOf(item) + " " + item.says), kIndent, style.width);
  if (item.standing != Standing::kOver) return text;
  text.pop_back();
  return Red(text, style) + "\n";
}

std::string OverText(const CheckReport& report, const OverItem& over, size_t rows,
                     const TextStyle& style) {
  std::string text = ItemLine(*over.item, style);
  const TextStyle inner = {style.width > kIndent ? style.width - kIndent : style.width,
                           style.colour};
  std::string where = fmt::format("{}:{}", report.budget, over.item->line);
  if (report.captures.size() > 1) where += ", " + over.check->capture;
  text += std::string(kIndent, ' ') + Dim(Printable(where), style) + "\n";
  return text +
         Indented(ContributorsText(*over.item, !report.baseline.empty(), rows, inner), kIndent);
}

// The items of the capture that aren't over, and the notes.
std::string RestOf(const CaptureCheck& check, size_t lines, const TextStyle& style) {
  std::string text;
  size_t left = 0;
  for (const CheckItem& item : check.items) {
    if (item.standing == Standing::kOver) continue;
    const std::string line = ItemLine(item, style);
    if (LinesOf(text) + LinesOf(line) > lines) {
      ++left;
    } else {
      text += line;
    }
  }
  if (left != 0) text += fmt::format("      and {} more, within or not judged\n", left);
  return text;
}

}  // namespace

std::string TextReport(const CheckReport& report, const TextStyle& style) {
  constexpr size_t kMostHeads = 10;
  std::string text;
  size_t hidden = 0;
  for (const CaptureCheck& check : report.captures) {
    const bool fine = check.error.empty() && !IsOver(check);
    const bool shown = LinesOf(text) < kMostHeads && (!fine || report.captures.size() == 1);
    if (shown) {
      text += HeadOf(check, style);
    } else {
      ++hidden;
    }
  }
  if (hidden != 0) {
    size_t within = 0;
    for (const CaptureCheck& check : report.captures) {
      within += check.error.empty() && !IsOver(check);
    }
    text += fmt::format("{} of {} captures within budget\n", within, report.captures.size());
  }
  const std::vector<OverItem> over = ItemsOver(report);
  size_t told = 0;
  for (const OverItem& item : over) {
    // The first item has the most stacks, the second fewer, the others only their lines.
    const size_t rows = told == 0 ? 5 : told == 1 ? 3 : 0;
    std::string whole = OverText(report, item, rows, style);
    if (LinesOf(text) + LinesOf(whole) > kMostLines) whole = ItemLine(*item.item, style);
    if (LinesOf(text) + LinesOf(whole) > kMostLines) break;
    text += whole;
    ++told;
  }
  if (told < over.size()) {
    text += fmt::format("      and {} more over budget; --format json has all\n",
                        FormatCount(over.size() - told));
  }
  if (report.captures.size() != 1) return text;
  const CaptureCheck& check = report.captures[0];
  const size_t lines = LinesOf(text);
  text += RestOf(check, lines < kMostLines ? kMostLines - lines : 0, style);
  for (const std::string& note : check.notes) {
    text += Dim("note: " + Wrapped(Printable(note), 6, style.width), style);
    if (LinesOf(text) > kMostLines + kMostHeads) break;
  }
  return text;
}

}  // namespace memprof
