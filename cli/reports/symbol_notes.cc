#include "cli/reports/symbol_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace memprof {
namespace {

constexpr std::string_view kInstall = "; install ";

// "MODULE: what is missing; install PACKAGE, or else"; all but `modules` may be empty.
struct Note {
  std::vector<std::string> modules;
  std::string what;  // including the text before the packages
  std::vector<std::string> packages;
  std::string otherwise;
};

Note Parsed(const std::string& text) {
  Note note;
  const size_t colon = std::min(text.find(": "), text.size());
  note.modules = {text.substr(0, colon)};
  const size_t install = text.find(kInstall, colon);
  note.what = text.substr(colon, install == text.npos ? text.npos : install - colon);
  if (install == text.npos) return note;
  const size_t package = install + kInstall.size();
  const size_t end = std::min(text.find(',', package), text.size());
  note.packages = {text.substr(package, end - package)};
  note.otherwise = text.substr(end);
  return note;
}

void AddNew(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& item : more) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }
}

}  // namespace

std::vector<std::string> GroupedNotes(const std::vector<std::string>& notes) {
  std::vector<Note> groups;
  for (const std::string& text : notes) {
    const Note note = Parsed(text);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Note& group) {
      return group.what == note.what && group.otherwise == note.otherwise &&
             group.packages.empty() == note.packages.empty();
    });
    if (same == groups.end()) {
      groups.push_back(note);
      continue;
    }
    AddNew(same->modules, note.modules);
    AddNew(same->packages, note.packages);
  }
  std::vector<std::string> texts;
  for (const Note& group : groups) {
    texts.push_back(fmt::format("{}{}{}{}{}", fmt::join(group.modules, ", "), group.what,
                                group.packages.empty() ? "" : kInstall,
                                fmt::join(group.packages, ", "), group.otherwise));
  }
  return texts;
}

}  // namespace memprof
