// FullScreen: puts the terminal into ncurses' mode as long as it lives: one key a read, no echo.
//
// Thread safety: one at a time, since it owns the terminal. Failure: works() is false.
#pragma once

#include <string>

namespace memprof {

class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  bool works() const { return screen_ != nullptr; }

  // True if stdin and stdout are a terminal that can show one.
  static bool CanShow();

 private:
  void* screen_ = nullptr;  // ncurses' SCREEN
};

// Writes a line of printable text, as much of it as fits, with ncurses' attributes. Pre: there is a
// FullScreen.
void PutLine(int row, const std::string& text, unsigned attributes);

// Changes a text by a key that was typed into it: a character, or one that deletes the last one.
void Type(int key, std::string& text);

}  // namespace memprof
