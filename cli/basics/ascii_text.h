// Text for a locale that has no other characters than ASCII's.
//
// Thread safety: pure, except for the environment.
#pragma once

#include <string>
#include <string_view>

namespace memprof {

// Whether the locale is "C" or "POSIX": the first of LC_ALL, LC_CTYPE and LANG that is set decides.
// Without any of them it isn't: containers and CI set none, and their logs are UTF-8.
bool LocaleIsAscii();

// The text with an ASCII character for each other one: "<" for "←", "." for "…", "?" for what has
// no likeness. Each is one column wide, so tables stay aligned.
std::string AsciiText(std::string_view text);

// The text as the locale can have it.
std::string ForLocale(std::string text);

}  // namespace memprof
