// The known word that a misspelt one was probably meant to be.
//
// Thread safety: pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace memprof {

// Empty: none is near. Letters may be missing, too many, wrong, or two of them swapped: one for
// each three of the word.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

// "; did you mean 'peak'?", or else all that there are: "; there are peak, leaked".
std::string SuggestionFor(std::string_view word, std::span<const std::string> known);

}  // namespace memprof
