// Finds the known word that a misspelt word was probably meant to be.
//
// Thread safety: pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace memprof {

// Empty if no word is near. Letters may be missing, superfluous, wrong, or two of them swapped: one
// such error for every three letters.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

// "; did you mean 'peak'?", or else the list of all: "; there are peak, leaked".
std::string SuggestionFor(std::string_view word, std::span<const std::string> known);

}  // namespace memprof
