#include "cli/live/top_screen.h"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/live/live_text.h"
#include "cli/reports/exactness.h"
#include "cli/reports/timeline_chart.h"
#include "cli/reports/tree/tree_screen.h"
#include "cli/terminal/full_screen.h"
#include "cli/web/page.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kEscape = 27;
constexpr int kLeastRowsForChart = 20;

constexpr const char* kHelp[] = {
    "↑ ↓ PgUp PgDn   move",
    "s               sort by the next column: live, change, minute, peak, rate, blocks, name",
    "b               rows are places, functions, modules, threads or processes",
    "o               own figures, or with what is called from there",
    "/               show only rows with a text; an empty one shows all",
    "z               since now: only what comes after shows; again: all",
    "x               one process after the other, or the whole tree",
    "Enter, t        the call tree of this look: callers and callees; q comes back",
    "f               the flame graph of this look, as an HTML file",
    "n               takes a named snapshot in the run's capture",
    "p, Space        pause and go on",
    "q               leave; the program goes on",
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

template <typename Value, size_t N>
Value Next(const Value (&all)[N], Value now) {
  const auto at = std::find(std::begin(all), std::end(all), now);
  return at == std::end(all) || at + 1 == std::end(all) ? all[0] : *(at + 1);
}

class Screen {
 public:
  Screen(LiveSession& session, const LiveView& view, milliseconds delay)
      : session_(session), view_(view), delay_(delay) {}

  // What the reader wants next: the tree needs the terminal for itself.
  enum class Wish { kQuit, kTree };

  Wish Run() {
    wish_.reset();
    while (!wish_) {
      Draw();
      const std::optional<int> key = WaitForKey();
      if (!key) continue;
      if (asking_ != Asking::kNothing) {
        Answer(*key);
      } else {
        message_.clear();
        Act(*key);
      }
    }
    return *wish_;
  }

 private:
  enum class Asking { kNothing, kFilter, kMomentName };

  // A key, or none: the time of the next look has come, and it was taken.
  std::optional<int> WaitForKey() {
    const auto left = paused_ || session_.ended()
                          ? milliseconds(1000)
                          : std::chrono::ceil<milliseconds>(next_look_ - steady_clock::now());
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    const int ready =
        poll(&input, 1, static_cast<int>(std::max<milliseconds::rep>(left.count(), 0)));
    if (ready > 0) {
      timeout(0);
      const int key = getch();
      // The terminal is gone.
      if (key == ERR) wish_ = Wish::kQuit;
      return key;
    }
    timeout(0);
    if (const int key = getch(); key != ERR) return key;  // a resized window
    if (!paused_ && !session_.ended() && steady_clock::now() >= next_look_) {
      session_.Look();
      next_look_ = steady_clock::now() + delay_;
      if (session_.ended()) message_ = "the run has ended; these are its last figures";
    }
    return std::nullopt;
  }

  void Act(int key) {
    switch (key) {
      case 'q':
      case 'Q':
        wish_ = Wish::kQuit;
        return;
      case 't':
      case '\r':
      case '\n':
      case KEY_ENTER:
        if (!session_.table().processes().empty()) wish_ = Wish::kTree;
        return;
      case KEY_UP:
      case 'k':
        top_ -= std::min<size_t>(top_, 1);
        return;
      case KEY_DOWN:
      case 'j':
        ++top_;
        return;
      case KEY_PPAGE:
        top_ -= std::min(top_, Page());
        return;
      case KEY_NPAGE:
        top_ += Page();
        return;
      case KEY_HOME:
      case 'g':
        top_ = 0;
        return;
      case 's':
        view_.sort = Next(kAllLiveSorts, view_.sort);
        message_ = fmt::format("sorted by {}", NameOf(view_.sort));
        return;
      case 'b':
        view_.by = Next(kAllLiveBys, view_.by);
        top_ = 0;
        message_ = fmt::format("by {}", NameOf(view_.by));
        return;
      case 'o':
        view_.inclusive = !view_.inclusive;
        message_ = view_.inclusive ? "with what is called from there" : "own figures";
        return;
      case 'z':
        ToggleBaseline();
        return;
      case 'x':
        ShowNextProcess();
        return;
      case 'p':
      case ' ':
        paused_ = !paused_;
        message_ = paused_ ? "paused; p goes on" : "";
        return;
      case 'f':
        WriteFlamegraph();
        return;
      case '/':
        asking_ = Asking::kFilter;
        typed_ = view_.filter;
        return;
      case 'n':
        asking_ = Asking::kMomentName;
        typed_.clear();
        return;
      case '?':
      case 'h':
        help_ = !help_;
        return;
      default:
        return;
    }
  }

  void Answer(int key) {
    if (key == kEscape) {
      asking_ = Asking::kNothing;
      return;
    }
    if (key != '\r' && key != '\n' && key != KEY_ENTER) {
      Type(key, typed_);
      return;
    }
    const Asking asked = asking_;
    asking_ = Asking::kNothing;
    if (asked == Asking::kFilter) {
      view_.filter = typed_;
      top_ = 0;
    } else {
      message_ = session_.TakeMoment(typed_);
    }
  }

  void ToggleBaseline() {
    if (session_.table().has_baseline()) {
      session_.table().ClearBaseline();
      message_ = "all figures";
    } else {
      session_.table().SetBaseline();
      message_ = "since now: only what comes after shows; z shows all";
    }
  }

  void ShowNextProcess() {
    const auto& processes = session_.run().processes;
    auto at = std::find_if(processes.begin(), processes.end(), [this](const ShownProcess& process) {
      return process.pid == session_.process();
    });
    at = at == processes.end() ? processes.begin() : at + 1;
    session_.ShowProcess(at == processes.end() ? 0 : at->pid);
    message_ = at == processes.end()
                   ? std::string("the whole tree")
                   : fmt::format("process {}, {}", at->pid, Printable(at->program));
    next_look_ = steady_clock::now();
  }

  void WriteFlamegraph() {
    if (session_.table().processes().empty()) return;
    const Profile& profile = session_.table().processes()[0].profile;
    PageOptions page;
    page.mode = Figure::kLeaked;
    page.capture = fmt::format("{} {}", profile.program.program, profile.program.pid);
    page.warnings = ExactnessNotes(profile);
    const std::string file = fmt::format("{}.{}.html", session_.run().capture, profile.program.pid);
    std::ofstream out(file, std::ios::binary);
    out << MakePage(profile, page);
    out.close();
    message_ = out ? fmt::format("written: {}", Printable(file))
                   : fmt::format("{} can't be written", Printable(file));
  }

  size_t Page() const { return static_cast<size_t>(std::max(getmaxy(stdscr) - 10, 1)); }

  std::string Foot() const {
    if (asking_ == Asking::kFilter) return "rows with: " + Printable(typed_);
    if (asking_ == Asking::kMomentName) {
      return "name of the snapshot (empty: its time): " + Printable(typed_);
    }
    if (!message_.empty()) return Printable(message_);
    return fmt::format(
        "s sort: {}  b by: {}  o {}  / filter{}  z since now  t tree  p pause  ? help"
        "  q quit",
        NameOf(view_.sort), NameOf(view_.by), view_.inclusive ? "total" : "own",
        view_.filter.empty() ? "" : ": " + Printable(view_.filter));
  }

  void Draw() {
    const int height = getmaxy(stdscr);
    const TextStyle style = {static_cast<size_t>(std::max(getmaxx(stdscr) - 1, 20)), false};
    int row = 0;
    PutLine(row++, LiveHeadText(session_), A_BOLD);
    if (height >= kLeastRowsForChart && !help_) {
      for (const std::string& line : Lines(TimelineChart(session_.timeline(), 6, style))) {
        PutLine(row++, line, A_NORMAL);
      }
    }
    std::vector<std::string> lines;
    if (help_) {
      lines.assign(std::begin(kHelp), std::end(kHelp));
    } else {
      lines = Lines(LiveTableText(session_, view_, 0, style));
    }
    const size_t heads = help_ ? 0 : 1;
    const auto room = static_cast<size_t>(std::max(height - row - 1, 1));
    const size_t rows = lines.size() - std::min(lines.size(), heads);
    const size_t body = room - std::min(room, heads);
    top_ = std::min(top_, rows > body ? rows - body : 0);
    for (size_t i = 0; i < room; ++i) {
      const size_t at = i < heads ? i : i + top_;
      PutLine(row++, at < lines.size() ? lines[at] : "", i < heads ? A_DIM : A_NORMAL);
    }
    PutLine(height - 1, Foot(), asking_ != Asking::kNothing || !message_.empty() ? A_BOLD : A_DIM);
    refresh();
  }

  LiveSession& session_;
  LiveView view_;
  const milliseconds delay_;
  steady_clock::time_point next_look_ = steady_clock::now() + delay_;
  std::optional<Wish> wish_;
  Asking asking_ = Asking::kNothing;
  std::string typed_, message_;
  bool paused_ = false;
  bool help_ = false;
  size_t top_ = 0;  // the row below the headings
};

}  // namespace

bool ShowTopScreen(LiveSession& session, const LiveView& view, milliseconds delay) {
  Screen screen(session, view, delay);
  for (;;) {
    Screen::Wish wish;
    {
      const FullScreen terminal;
      if (!terminal.works()) return false;
      wish = screen.Run();
    }
    if (wish == Screen::Wish::kQuit) return true;
    CallTreeOptions tree;
    tree.figure = Figure::kLeaked;
    tree.bottom_up = true;
    ShowTreeScreen(session.table().processes()[0].profile, tree);
  }
}

}  // namespace memprof
