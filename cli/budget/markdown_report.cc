// The check as Markdown, for a job's summary. GitHub drops a summary above 1 MiB; this one is far
// smaller, however much is over.

#include <fmt/format.h>

#include "cli/budget/contributors_text.h"
#include "cli/budget/report_formats.h"

namespace memprof {
namespace {

constexpr size_t kMostRows = 50;        // of the table
constexpr size_t kMostDetails = 10;     // so many items have their stacks
constexpr size_t kMostCellBytes = 400;  // names of templates can be arbitrarily long

// Escapes a table cell's text for Markdown and HTML.
std::string CellText(const std::string& text) {
  std::string cell;
  for (const char c : Shortened(Printable(text), kMostCellBytes)) {
    if (c == '<') {
      cell += "&lt;";
    } else if (c == '&') {
      cell += "&amp;";
    } else {
      if (std::string_view("\\`*_{}[]()#+!|~>").find(c) != std::string_view::npos) cell += '\\';
      cell += c;
    }
  }
  return cell;
}

// Only backquotes could end a block of code.
std::string Block(std::string text) {
  for (char& c : text) {
    if (c == '`') c = '\'';
  }
  return "```\n" + text + "```\n";
}

std::string Row(const char* mark, const CaptureCheck& check, const CheckItem& item) {
  return fmt::format("| {} | {} | {} | {} |\n", mark, CellText(TitleOf(item)), CellText(item.says),
                     CellText(check.capture));
}

std::string Heading(const CheckReport& report) {
  const bool fine = !IsOver(report) && !IsUnreadable(report);
  return fmt::format("## memprof: {}\n\n", fine             ? "within budget"
                                           : IsOver(report) ? "over budget"
                                                            : "unreadable captures");
}

std::string RestText(const CheckReport& report) {
  std::string text;
  size_t rows = 0;
  size_t left = 0;
  for (const CaptureCheck& check : report.captures) {
    for (const CheckItem& item : check.items) {
      if (item.standing == Standing::kOver) continue;
      if (++rows > kMostRows) {
        ++left;
      } else {
        text += Row(item.standing == Standing::kWithin ? "within" : "not judged", check, item);
      }
    }
  }
  if (text.empty()) return text;
  if (left != 0) text += fmt::format("\nand {} more\n", left);
  return fmt::format(
      "<details><summary>{} within or not judged</summary>\n\n| | limit | verdict | capture |\n"
      "|---|---|---|---|\n{}\n</details>\n\n",
      rows, text);
}

std::string NotesText(const CheckReport& report) {
  std::string text;
  size_t notes = 0;
  for (const CaptureCheck& check : report.captures) {
    for (const std::string& note : check.notes) {
      if (++notes <= kMostRows)
        text += "- " + CellText(check.capture) + ": " + CellText(note) + "\n";
    }
  }
  return text.empty() ? text : "Notes\n\n" + text;
}

}  // namespace

std::string MarkdownReport(const CheckReport& report, const TextStyle&) {
  constexpr TextStyle kPlain = {100, false};
  std::string text = Heading(report);
  size_t unreadable = 0;
  for (const CaptureCheck& check : report.captures) {
    if (check.error.empty()) continue;
    if (++unreadable <= kMostRows) text += "- unreadable: " + CellText(check.error) + "\n";
  }
  if (unreadable != 0) text += "\n";
  const std::vector<OverItem> over = ItemsOver(report);
  if (!over.empty()) text += "| | limit | verdict | capture |\n|---|---|---|---|\n";
  for (size_t i = 0; i < over.size() && i < kMostRows; ++i) {
    text += Row("**over**", *over[i].check, *over[i].item);
  }
  if (over.size() > kMostRows) text += fmt::format("\nand {} more\n", over.size() - kMostRows);
  text += "\n";
  for (size_t i = 0; i < over.size() && i < kMostDetails; ++i) {
    const std::string stacks = ContributorsText(*over[i].item, !report.baseline.empty(), 5, kPlain);
    if (stacks.empty()) continue;
    text += "**" + CellText(TitleOf(*over[i].item)) + "**\n\n" + Block(stacks) + "\n";
  }
  return text + RestText(report) + NotesText(report);
}

}  // namespace memprof
