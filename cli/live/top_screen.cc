#include "cli/live/top_screen.h"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/live/live_lines.h"
#include "cli/live/live_page.h"
#include "cli/live/live_text.h"
#include "cli/reports/timeline_chart.h"
#include "cli/reports/tree/tree_screen.h"
#include "cli/terminal/full_screen.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kEscape = 27;
constexpr int kLeastRowsForChart = 20;
constexpr milliseconds kNamesCome{100};
constexpr milliseconds kOutputComes{200};

// At most 79 columns wide, and with the head and the foot 24 rows.
constexpr const char* kHelp[] = {
    "↑ ↓ PgUp PgDn Home End   move",
    "Enter, → ←   open and close: who called there, a step at a time",
    "d            … or what was called from there (with figures of that: see o)",
    "s >  <       sort by the next column, or the one before",
    "b            rows are places, functions, sites, modules, threads, processes",
    "o            own figures, or with what is called from there",
    "/  n N       find a text; the next one, the one before",
    "\\            filter: only rows with a text; an empty one shows all",
    "z            since now: only what comes after is shown; again: all",
    "x            one process after the other, and then the whole tree",
    "p, Space     pause and go on",
    "t            the call tree of this look; q comes back",
    "f            the flame graph of this look, as an HTML file",
    "i            inspects the program's memory: what is lost, what holds the rest",
    "w            writes this look as a capture",
    "m            takes a named snapshot in the run's capture",
    "q            leave; the program goes on",
};
constexpr const char* kHelpOfOutput = "v            the program's output";

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

template <typename Value, size_t N>
Value Previous(const Value (&all)[N], Value now) {
  const auto at = std::find(std::begin(all), std::end(all), now);
  return at == std::begin(all) || at == std::end(all) ? all[N - 1] : *(at - 1);
}

class Screen {
 public:
  Screen(LiveSession& session, const TopScreenOptions& options)
      : session_(session),
        view_(options.view),
        delay_(options.delay),
        output_(options.output),
        options_(options) {
    if (output_ != nullptr) message_ = "the program's input is /dev/null; v shows its output";
  }

  // What the reader wants next: the tree needs the terminal for itself.
  enum class Wish { kQuit, kTree };

  Wish Run() {
    wish_.reset();
    while (!wish_) {
      Draw();
      const std::optional<int> key = WaitForKey();
      if (!key || *key == KEY_RESIZE) continue;
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
  enum class Asking { kNothing, kSearch, kFilter, kMomentName, kFile, kInspect };

  // A key, or none: something else has come, and is shown by the next Draw.
  std::optional<int> WaitForKey() {
    auto left = IsLooking() ? std::chrono::ceil<milliseconds>(next_look_ - steady_clock::now())
                            : milliseconds(1000);
    if (session_.NamesAreWanted()) left = std::min(left, kNamesCome);
    // Also while it isn't shown: lines of both streams are in the order in which they are seen.
    if (output_ != nullptr) left = std::min(left, kOutputComes);
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
    if (output_ != nullptr) output_->Look();
    timeout(0);
    if (const int key = getch(); key != ERR) return key;  // a resized window
    if (IsLooking() && steady_clock::now() >= next_look_) {
      Look();
    } else if (session_.UpdateNames()) {
      is_stale_ = true;
    }
    return std::nullopt;
  }

  bool IsLooking() const { return !paused_ && !session_.ended(); }

  void Look() {
    session_.Look();
    next_look_ = steady_clock::now() + delay_;
    is_stale_ = true;
    if (session_.ended()) message_ = "the run has ended; these are its last figures";
  }

  void Act(int key) {
    if (key == '?' || key == 'h') {
      help_ = !help_;
      return;
    }
    if (help_) {
      help_ = false;
      if (key == 'q' || key == kEscape) return;
    }
    if (!inspected_.empty()) return MoveInText(key);
    if (Move(key) || Change(key)) return;
    switch (key) {
      case 'q':
      case 'Q':
        wish_ = Wish::kQuit;
        return;
      case 't':
        if (!session_.table().processes().empty()) wish_ = Wish::kTree;
        return;
      case 'p':
      case ' ':
        paused_ = !paused_;
        if (!paused_) message_ = "going on";
        return;
      case 'f':
        message_ = WriteLookPage(session_);
        return;
      case '/':
        return Ask(Asking::kSearch, "");
      case 'n':
      case 'N':
        return Find(key == 'N');
      case '\\':
        return Ask(Asking::kFilter, view_.filter);
      case 'm':
        return Ask(Asking::kMomentName, "");
      case 'w':
        return Ask(Asking::kFile, NameForLook(session_));
      case 'i':
        return AskToInspect();
      case 'v':
        shows_output_ = output_ != nullptr && !shows_output_;
        if (output_ == nullptr) message_ = "only memprof run --live has the program's output";
        return;
      default:
        return;
    }
  }

  // What was inspected is shown until another key comes.
  void MoveInText(int key) {
    const auto page = static_cast<long>(page_);
    const auto last = std::max(static_cast<long>(inspected_.size()) - page, 0l);
    long to = text_top_;
    switch (key) {
      case KEY_UP:
      case 'k':
        --to;
        break;
      case KEY_DOWN:
      case 'j':
        ++to;
        break;
      case KEY_PPAGE:
        to -= page;
        break;
      case KEY_NPAGE:
      case ' ':
        to += page;
        break;
      case KEY_HOME:
      case 'g':
        to = 0;
        break;
      case KEY_END:
      case 'G':
        to = last;
        break;
      default:
        inspected_.clear();
        return;
    }
    text_top_ = std::clamp(to, 0l, last);
  }

  void AskToInspect() {
    const auto& processes = session_.run().processes;
    if (!options_.inspect || session_.ended() || processes.empty()) {
      message_ =
          options_.inspect ? "the run has ended" : "only a run on this machine can be inspected";
      return;
    }
    asked_process_ = session_.process() != 0 ? session_.process() : processes[0].pid;
    Ask(Asking::kInspect, "");
  }

  void Inspect() {
    PutLine(getmaxy(stdscr) - 1, "inspecting …", A_BOLD);
    refresh();
    const auto columns = static_cast<size_t>(std::max(getmaxx(stdscr) - 1, 20));
    inspected_ = Lines(options_.inspect(asked_process_, columns));
    text_top_ = 0;
    if (inspected_.empty()) message_ = "nothing could be found out";
    if (inspected_.size() == 1) message_ = std::exchange(inspected_, {})[0];
    next_look_ = steady_clock::now();
  }

  // True: the key moves the cursor, or opens and closes its line.
  bool Move(int key) {
    const auto page = static_cast<long>(page_);
    switch (key) {
      case KEY_UP:
      case 'k':
        lines_.MoveBy(-1);
        return true;
      case KEY_DOWN:
      case 'j':
        lines_.MoveBy(1);
        return true;
      case KEY_PPAGE:
        lines_.MoveBy(-page);
        return true;
      case KEY_NPAGE:
        lines_.MoveBy(page);
        return true;
      case KEY_HOME:
      case 'g':
        lines_.MoveTo(0);
        return true;
      case KEY_END:
      case 'G':
        lines_.MoveTo(lines_.lines().size());
        return true;
      case '\r':
      case '\n':
      case KEY_ENTER:
        lines_.Toggle();
        break;
      case KEY_RIGHT:
        lines_.Open();
        break;
      case KEY_LEFT:
        lines_.Close();
        break;
      default:
        return false;
    }
    is_stale_ = true;
    return true;
  }

  // True: the key changes what is shown of the look.
  bool Change(int key) {
    switch (key) {
      case 's':
      case '>':
      case '<':
        view_.sort =
            key == '<' ? Previous(kAllLiveSorts, view_.sort) : Next(kAllLiveSorts, view_.sort);
        message_ = fmt::format("sorted by {}", NameOf(view_.sort));
        break;
      case 'b':
        view_.by = Next(kAllLiveBys, view_.by);
        lines_.CloseAll();
        lines_.MoveTo(0);
        message_ = fmt::format("by {}", NameOf(view_.by));
        break;
      case 'o':
        view_.inclusive = !view_.inclusive;
        lines_.CloseAll();
        message_ = view_.inclusive ? "with what is called from there" : "own figures";
        break;
      case 'd':
        lines_.Turn();
        message_ = lines_.callees() ? "opens what is called from there" : "opens who called there";
        // Own figures have nothing that is called.
        if (lines_.callees() && !view_.inclusive) {
          view_.inclusive = true;
          message_ += "; figures have what is called";
        }
        break;
      case 'z':
        ToggleBaseline();
        break;
      case 'x':
        ShowNextProcess();
        break;
      default:
        return false;
    }
    is_stale_ = true;
    return true;
  }

  void Ask(Asking what, const std::string& text) {
    asking_ = what;
    typed_ = text;
  }

  void Find(bool backwards) {
    if (search_.empty()) {
      message_ = "nothing to find; / asks";
    } else if (!lines_.Find(search_, backwards)) {
      message_ = "no row has '" + search_ + "'";
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
    message_.clear();
    switch (std::exchange(asking_, Asking::kNothing)) {
      case Asking::kNothing:
        return;
      case Asking::kSearch:
        search_ = typed_;
        return Find(false);
      case Asking::kFilter:
        view_.filter = typed_;
        is_stale_ = true;
        return;
      case Asking::kMomentName:
        message_ = session_.TakeMoment(typed_);
        return;
      case Asking::kFile:
        message_ = SaveLook(session_, typed_);
        return;
      case Asking::kInspect:
        return Inspect();
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

  std::string Foot() const {
    switch (asking_) {
      case Asking::kNothing:
        break;
      case Asking::kSearch:
        return "find: " + Printable(typed_);
      case Asking::kFilter:
        return "rows with: " + Printable(typed_);
      case Asking::kMomentName:
        return "name of the snapshot (empty: its time): " + Printable(typed_);
      case Asking::kFile:
        return "write to: " + Printable(typed_);
      case Asking::kInspect:
        return options_.cost_of_inspecting(asked_process_) + "; Enter: do it, Esc: not";
    }
    if (!inspected_.empty()) return "↑ ↓ PgUp PgDn move; any other key goes back";
    if (!message_.empty()) return Printable(message_);
    return fmt::format(
        "? help  q quit  s sort: {}  b by: {}  o {}  / find  \\ filter{}  z since now",
        NameOf(view_.sort), NameOf(view_.by), view_.inclusive ? "total" : "own",
        view_.filter.empty() ? "" : ": " + Printable(view_.filter));
  }

  std::vector<std::string> HelpLines() const {
    std::vector<std::string> lines(std::begin(kHelp), std::end(kHelp));
    if (output_ != nullptr) lines.insert(lines.end() - 1, kHelpOfOutput);
    return lines;
  }

  // From this row to the one above `end`.
  void DrawTable(int row, int end, const TextStyle& style) {
    // The headings, and the sum.
    const auto around = size_t{1} + (view_.inclusive ? 0 : 1);
    page_ = static_cast<size_t>(std::max(end - row - static_cast<int>(around), 1));
    const size_t count = lines_.lines().size(), cursor = lines_.cursor();
    if (cursor < top_) top_ = cursor;
    if (cursor >= top_ + page_) top_ = cursor - page_ + 1;
    top_ = std::min(top_, count > page_ ? count - page_ : 0);
    const size_t shown = std::min(count - top_, page_);
    const auto lines = Lines(LiveLinesText(session_, view_, lines_, top_, top_ + shown, style));
    for (size_t i = 0; row < end; ++i) {
      const bool is_cursor = i == cursor - top_ + 1 && count > 0;
      PutLine(row++, i < lines.size() ? lines[i] : "",
              i == 0      ? A_DIM
              : is_cursor ? A_REVERSE
              : i > shown ? A_BOLD
                          : A_NORMAL);
    }
  }

  void DrawText(int row, int end) {
    page_ = static_cast<size_t>(std::max(end - row, 1));
    for (auto at = static_cast<size_t>(text_top_); row < end; ++at) {
      PutLine(row++, at < inspected_.size() ? inspected_[at] : "", A_NORMAL);
    }
  }

  // The last lines that fit.
  void DrawOutput(int row, int end) {
    PutLine(row++, "the program's output (v hides it; it is printed whole at the end)", A_DIM);
    const auto& lines = output_->lines();
    const size_t room = static_cast<size_t>(std::max(end - row, 0));
    size_t at = lines.size() > room ? lines.size() - room : 0;
    for (; row < end; ++at) PutLine(row++, at < lines.size() ? Printable(lines[at]) : "", A_NORMAL);
  }

  void Draw() {
    if (std::exchange(is_stale_, false)) lines_.Update(session_.table(), view_);
    const int height = getmaxy(stdscr);
    const TextStyle style = {static_cast<size_t>(std::max(getmaxx(stdscr) - 1, 20)), false};
    int row = 0;
    PutLine(row++, (paused_ ? "PAUSED  " : "") + LiveHeadText(session_), A_BOLD);
    int end = std::max(height - 1, row);  // the foot's row
    if (help_) {
      const auto lines = HelpLines();
      for (size_t i = 0; row < end; ++i) PutLine(row++, i < lines.size() ? lines[i] : "", A_NORMAL);
    } else if (!inspected_.empty()) {
      DrawText(row, end);
    } else {
      const int output = shows_output_ ? std::clamp(height / 3, 2, std::max(end - 3, 2)) : 0;
      if (height - output >= kLeastRowsForChart) {
        for (const std::string& line : Lines(TimelineChart(session_.timeline(), 6, style))) {
          PutLine(row++, line, A_NORMAL);
        }
      }
      DrawTable(row, std::max(end - output, row), style);
      if (output != 0) DrawOutput(std::max(end - output, row), end);
    }
    PutLine(height - 1, Foot(), asking_ != Asking::kNothing || !message_.empty() ? A_BOLD : A_DIM);
    refresh();
  }

  LiveSession& session_;
  LiveView view_;
  const milliseconds delay_;
  ProgramOutput* const output_;
  const TopScreenOptions& options_;
  LiveLines lines_;
  bool is_stale_ = true;  // lines_ isn't of the look and the view
  steady_clock::time_point next_look_ = steady_clock::now() + delay_;
  std::optional<Wish> wish_;
  Asking asking_ = Asking::kNothing;
  std::string typed_, message_, search_;
  bool paused_ = false;
  bool help_ = false;
  bool shows_output_ = false;
  pid_t asked_process_ = 0;
  std::vector<std::string> inspected_;  // empty: not shown
  long text_top_ = 0;
  size_t top_ = 0;   // the line below the headings
  size_t page_ = 1;  // the lines that there is room for
};

}  // namespace

bool ShowTopScreen(LiveSession& session, const TopScreenOptions& options) {
  Screen screen(session, options);
  for (;;) {
    Screen::Wish wish;
    {
      const FullScreen terminal;
      if (!terminal.works()) return false;
      wish = screen.Run();
    }
    if (wish == Screen::Wish::kQuit) return true;
    const auto profile = session.Merged();
    if (!profile) continue;
    CallTreeOptions tree;
    tree.figure = Figure::kLeaked;
    tree.bottom_up = true;
    ShowTreeScreen(*profile, tree);
  }
}

}  // namespace memprof
