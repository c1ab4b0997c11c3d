#include "formats/nearest_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace memprof {
namespace {

// The distance of Damerau and Levenshtein; no letter is edited twice.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1,
                              edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string NearestWord(std::string_view word, std::span<const std::string> known) {
  constexpr size_t kLongest = 64;  // longer than any known word
  if (word.size() > kLongest) return {};
  std::string nearest;
  size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    const size_t edits = Edits(word, candidate);
    if (edits < least || (edits == least && nearest.empty())) {
      least = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string SuggestionFor(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = NearestWord(word, known);
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest);
  return fmt::format("; there are {}", fmt::join(known, ", "));
}

}  // namespace memprof
