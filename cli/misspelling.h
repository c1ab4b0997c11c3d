// FindMisspelling: the first word of a command line that no command knows, and the word that was
// probably meant.
//
//   memprof tabel x             there is no command 'tabel'; did you mean 'table'?
//   memprof table --rosw 3 x    there is no option --rosw; did you mean '--rows'?
//   memprof table --rows= x     --rows= has no value
//
// Thread safety: pure. It looks at the definition and at the words alone, so that it can be asked
// whatever the parser stumbled on first.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace CLI {
class App;
}

namespace memprof {

struct Misspelling {
  std::string text;                   // one sentence, without what to do about it
  std::string known;                  // the word that was probably meant; empty: none is near
  const CLI::App* command = nullptr;  // whose help lists the words that there are
};

// `words`: the command line without the program's own name. Nothing: all is known as far as a
// program's command line, which isn't ours, begins.
std::optional<Misspelling> FindMisspelling(const CLI::App& app, std::span<const char* const> words);

}  // namespace memprof
