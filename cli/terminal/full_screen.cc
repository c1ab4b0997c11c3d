#include "cli/terminal/full_screen.h"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string_view>

namespace memprof {
namespace {

// As much of printable text as fits; a character may take two columns or none.
std::string Clipped(const std::string& text, int columns) {
  std::mbstate_t state = {};
  size_t at = 0;
  while (at < text.size()) {
    wchar_t character = 0;
    const size_t bytes = std::mbrtowc(&character, text.data() + at, text.size() - at, &state);
    if (bytes == 0 || bytes > text.size() - at) break;
    columns -= std::max(wcwidth(character), 0);
    if (columns < 0) break;
    at += bytes;
  }
  return text.substr(0, at);
}

}  // namespace

FullScreen::FullScreen() {
  // Names are UTF-8 whatever the environment's locale is.
  if (std::setlocale(LC_CTYPE, "") == nullptr || std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  set_escdelay(50);
  SCREEN* const screen = newterm(nullptr, stdout, stdin);
  screen_ = screen;
  if (screen == nullptr) return;
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, true);
  curs_set(0);
}

FullScreen::~FullScreen() {
  if (screen_ == nullptr) return;
  endwin();
  delscreen(static_cast<SCREEN*>(screen_));
}

bool FullScreen::CanShow() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && terminal != nullptr &&
         *terminal != 0 && std::string_view(terminal) != "dumb";
}

void PutLine(int row, const std::string& text, unsigned attributes) {
  move(row, 0);
  clrtoeol();
  attron(static_cast<int>(attributes));
  // Writing to the last column of the last row would scroll.
  addstr(Clipped(text, getmaxx(stdscr) - 1).c_str());
  attroff(static_cast<int>(attributes));
}

void Type(int key, std::string& text) {
  if (key == KEY_BACKSPACE || key == 127 || key == 8) {
    // A whole character of UTF-8.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) {
      text.pop_back();
    }
    if (!text.empty()) text.pop_back();
  } else if (key >= ' ' && key <= 0xff) {
    text += static_cast<char>(key);
  }
}

}  // namespace memprof
