#include "cli/reports/symbol_notes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace memprof {

std::string SymbolNotes(std::string_view head, const Profile& profile, const TextStyle& style) {
  std::vector<std::pair<std::string, std::string>> notes;  // what lacks, of which modules
  for (const std::string& note : profile.notes) {
    const size_t colon = std::min(note.find(": "), note.size());
    const std::string what = note.substr(colon);
    auto same = std::find_if(notes.begin(), notes.end(),
                             [&](const auto& entry) { return entry.first == what; });
    if (same == notes.end()) same = notes.insert(notes.end(), {what, ""});
    same->second += (same->second.empty() ? "" : ", ") + note.substr(0, colon);
  }
  std::string text;
  for (const auto& [what, modules] : notes) {
    text += Dim(std::string(head) + Wrapped(Printable(modules + what), head.size(), style.width),
                style);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace memprof
