#include "cli/reports/tree/tree_screen.h"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <iterator>
#include <string>
#include <string_view>

#include "cli/reports/tree/tree_view.h"
#include "cli/reports/trust.h"
#include "cli/terminal/terminal.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr int kEscape = 27;
constexpr int kHeadLines = 2;  // what ran, and the headings
constexpr int kFootLines = 1;

// The terminal in its own mode while this lives.
class Terminal {
 public:
  Terminal() {
    // Names are UTF-8 whatever the environment says of its own text.
    if (std::setlocale(LC_CTYPE, "") == nullptr ||
        std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
      std::setlocale(LC_CTYPE, "C.UTF-8");
    }
    set_escdelay(50);
    screen_ = newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) return;
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, true);
    curs_set(0);
  }
  ~Terminal() {
    if (screen_ == nullptr) return;
    endwin();
    delscreen(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool works() const { return screen_ != nullptr; }

 private:
  SCREEN* screen_ = nullptr;
};

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

class Screen {
 public:
  Screen(const Profile& profile, const CallTreeOptions& options)
      : profile_(profile),
        options_(options),
        sort_(options.sort),
        estimates_(profile.tracker.sample_bytes != 0),
        view_(CallTree(profile, options)) {}

  void Run() {
    for (;;) {
      Draw();
      const int key = getch();
      message_.clear();
      if (key == 'q' || key == 'Q' || key == ERR) return;
      Act(key);
    }
  }

 private:
  int Rows() const { return std::max(getmaxy(stdscr) - kHeadLines - kFootLines, 1); }

  void Act(int key) {
    switch (key) {
      case KEY_UP:
      case 'k':
        return view_.MoveBy(-1);
      case KEY_DOWN:
      case 'j':
        return view_.MoveBy(1);
      case KEY_PPAGE:
        return view_.MoveBy(-Rows());
      case KEY_NPAGE:
        return view_.MoveBy(Rows());
      case KEY_HOME:
      case 'g':
        return view_.MoveTo(0);
      case KEY_END:
      case 'G':
        return view_.MoveTo(view_.lines().size());
      case KEY_RIGHT:
      case 'l':
        return view_.Open();
      case KEY_LEFT:
      case 'h':
        return view_.Close();
      case ' ':
      case '\r':
      case '\n':
      case KEY_ENTER:
        return view_.Toggle();
      case '*':
        return view_.ToggleSubtree();
      case 's':
        return SortNext();
      case '/':
        return AskAndFind();
      case 'n':
        return Find(true);
      case 'N':
        return Find(false);
      default:
        return;
    }
  }

  void SortNext() {
    sort_ = sort_ == SortKey::kBytes         ? SortKey::kAllocations
            : sort_ == SortKey::kAllocations ? SortKey::kTotal
            : sort_ == SortKey::kTotal       ? SortKey::kFunction
                                             : SortKey::kBytes;
    view_.SortBy(sort_);
    message_ = fmt::format("sorted by {}", SortName());
  }

  const char* SortName() const {
    switch (sort_) {
      case SortKey::kBytes:
        return "bytes";
      case SortKey::kAllocations:
        return "allocations";
      case SortKey::kTotal:
        return "total";
      case SortKey::kFunction:
        return "function";
    }
    return "";
  }

  void AskAndFind() {
    std::string text;
    for (;;) {
      message_ = "/" + Printable(text);
      Draw();
      const int key = getch();
      if (key == kEscape || key == ERR) {
        message_.clear();
        return;
      }
      if (key == '\r' || key == '\n' || key == KEY_ENTER) break;
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
    search_ = text;
    Find(true);
  }

  void Find(bool forwards) {
    message_.clear();
    if (search_.empty()) {
      message_ = "nothing to search for; / asks";
    } else if (!view_.Find(search_, forwards)) {
      message_ = fmt::format("no function, file or module has '{}'", Printable(search_));
    }
  }

  void Put(int row, const std::string& text, attr_t attributes) {
    move(row, 0);
    clrtoeol();
    attron(static_cast<int>(attributes));
    // The last column of the last row can't be written to without scrolling.
    addstr(Clipped(text, getmaxx(stdscr) - 1).c_str());
    attroff(static_cast<int>(attributes));
  }

  std::string WhatIsShown() const {
    if (options_.figure == Figure::kLeaked) return "never freed:";
    if (options_.figure == Figure::kTemporary) return "temporary:";
    return "live at " + (profile_.chosen ? profile_.chosen->name : std::string("the peak")) + ":";
  }

  std::string Head() const {
    const CallTreeNode& root = view_.tree().nodes()[0];
    const Count error = StandardError(root.variance);
    const auto lines = ProcessLines(profile_);
    return fmt::format("{}{}  {}{} {}{} in {} blocks", Printable(profile_.program.program),
                       lines.empty() ? "" : ", " + Printable(lines[0]),
                       options_.bottom_up ? "bottom-up, " : "", WhatIsShown().c_str(),
                       estimates_ ? "≈ " : "", FormatBytesWithError(root.figure.bytes, error.bytes),
                       FormatCountWithError(root.figure.allocations, error.allocations));
  }

  std::string LineText(const TreeView::Line& line) const {
    const uint64_t error = StandardError(line.variance).bytes;
    std::string text = fmt::format(
        "{} {:>6} {:>10}  ", PaddedLeft(FormatBytesWithError(line.figure.bytes, error), Bytes()),
        FormatShare(line.figure.bytes, view_.tree().nodes()[0].figure.bytes),
        FormatCount(line.figure.allocations));
    const size_t width = static_cast<size_t>(std::max(getmaxx(stdscr) - 1, 20));
    // Deep below, only the innermost branches are drawn, so that names keep their room.
    const size_t left = width > Columns(text) ? width - Columns(text) : 10;
    const std::string branch = ShortenedFront(line.branch, left / 2);
    text += branch + (line.is_open ? "▾ " : line.can_open ? "▸ " : "  ");
    const size_t used = Columns(text);
    const size_t room = std::max<size_t>(width > used ? width - used : 0, 10);
    const CallTreeName name = view_.NameOf(line);
    const std::string place = ShortenedFront(Printable(name.place), room / 2);
    if (place.empty()) return text + Shortened(Printable(name.function), room);
    return text + Shortened(Printable(name.function), room - Columns(place) - 2) + "  " + place;
  }

  size_t Bytes() const { return estimates_ ? 17 : 10; }

  void Draw() {
    const int rows = Rows();
    const size_t shown = static_cast<size_t>(rows);
    const size_t cursor = view_.cursor();
    if (cursor < top_) top_ = cursor;
    if (cursor >= top_ + shown) top_ = cursor - shown + 1;
    top_ = std::min(top_, view_.lines().size() > shown ? view_.lines().size() - shown : 0);
    Put(0, Head(), A_BOLD);
    Put(1,
        fmt::format("{} {:>6} {:>10}  function",
                    PaddedLeft(estimates_ ? "≈ bytes" : "bytes", Bytes()), "share", "blocks"),
        A_DIM);
    for (int row = 0; row < rows; ++row) {
      const size_t at = top_ + static_cast<size_t>(row);
      const bool there = at < view_.lines().size();
      Put(kHeadLines + row, there ? LineText(view_.lines()[at]) : "",
          there && at == cursor ? A_REVERSE : A_NORMAL);
    }
    const std::string keys = fmt::format(
        "↑↓ move  →← open, close  * all  / find  n N next  s sort: {}  q quit", SortName());
    Put(kHeadLines + rows, message_.empty() ? keys : message_, message_.empty() ? A_DIM : A_BOLD);
    refresh();
  }

  const Profile& profile_;
  const CallTreeOptions options_;
  SortKey sort_;
  const bool estimates_;
  TreeView view_;
  size_t top_ = 0;  // the line in the first row
  std::string search_, message_;
};

}  // namespace

bool CanShowTreeScreen() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && terminal != nullptr &&
         *terminal != 0 && std::string_view(terminal) != "dumb";
}

bool ShowTreeScreen(const Profile& profile, const CallTreeOptions& options) {
  CallTreeOptions all = options;
  all.rows = 0;
  Terminal terminal;
  if (!terminal.works()) return false;
  Screen(profile, all).Run();
  return true;
}

}  // namespace memprof
