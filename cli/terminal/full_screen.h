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

// As much of printable text as fits; a character may take two columns or none.
std::string Clipped(const std::string& text, int columns);

// Changes a text by a key that was typed into it: a character, or one that deletes the last one.
void Type(int key, std::string& text);

}  // namespace memprof
