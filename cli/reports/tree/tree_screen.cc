#include "cli/reports/tree/tree_screen.h"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "cli/reports/exactness.h"
#include "cli/reports/tree/tree_view.h"
#include "cli/terminal/full_screen.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr int kEscape = 27;
constexpr int kHeadLines = 2;  // what ran, and the headings
constexpr int kFootLines = 1;

class Screen {
 public:
  Screen(const Profile& profile, const CallTreeOptions& options)
      : profile_(profile),
        options_(options),
        sort_(options.sort),
        estimates_(profile.tracker.sample_bytes != 0),
        table_({{estimates_ ? "≈ bytes" : "bytes", estimates_ ? 17u : 10u, 1},
                {"share", 6, 1},
                {"blocks", 10}},
               "function", TextStyle()),
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
      case 'f':
        return ShowNextFigure();
      case 'b':
        options_.bottom_up = !options_.bottom_up;
        return ShowAnew(options_.bottom_up ? "callers below what they call" : "callers above");
      case '/':
        return AskAndFind();
      case 'n':
        return Find(TreeView::Match::kNext);
      case 'N':
        return Find(TreeView::Match::kPrevious);
      default:
        return;
    }
  }

  // Figures that the capture doesn't have are left out.
  void ShowNextFigure() {
    constexpr Figure kFigures[] = {Figure::kPeak, Figure::kLeaked, Figure::kTotal,
                                   Figure::kTemporary};
    const size_t now = static_cast<size_t>(
        std::find(std::begin(kFigures), std::end(kFigures), options_.figure) - kFigures);
    for (size_t step = 1; step < std::size(kFigures); ++step) {
      options_.figure = kFigures[(now + step) % std::size(kFigures)];
      if (Has(options_.figure)) return ShowAnew(WhatIsShown());
    }
    options_.figure = kFigures[now];
    message_ = "this capture has no other figure";
  }

  bool Has(Figure figure) const {
    return std::any_of(profile_.sites.begin(), profile_.sites.end(),
                       [&](const ProfileSite& site) { return FigureOf(site, figure) != Count(); });
  }

  void ShowAnew(const std::string& message) {
    options_.sort = sort_;
    view_.Show(CallTree(profile_, options_));
    top_ = 0;
    message_ = message;
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
      Type(key, text);
    }
    search_ = text;
    Find(TreeView::Match::kHeaviest);
  }

  void Find(TreeView::Match which) {
    message_.clear();
    if (search_.empty()) {
      message_ = "nothing to search for; / asks";
    } else if (!view_.Find(search_, which)) {
      message_ = fmt::format("no function, file or module has '{}'", Printable(search_));
    }
  }

  std::string WhatIsShown() const {
    if (options_.figure == Figure::kLeaked) return "never freed:";
    if (options_.figure == Figure::kTemporary) return "temporary:";
    if (options_.figure == Figure::kTotal) return "allocated:";
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
    std::string text =
        table_.Figures({FormatBytesWithError(line.figure.bytes, error),
                        FormatShare(line.figure.bytes, view_.tree().nodes()[0].figure.bytes),
                        FormatCount(line.figure.allocations)});
    const size_t width = static_cast<size_t>(std::max(getmaxx(stdscr) - 1, 20));
    // At great depth only the innermost branches are drawn, so that names keep their room.
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

  void Draw() {
    const int rows = Rows();
    const size_t shown = static_cast<size_t>(rows);
    const size_t cursor = view_.cursor();
    if (cursor < top_) top_ = cursor;
    if (cursor >= top_ + shown) top_ = cursor - shown + 1;
    top_ = std::min(top_, view_.lines().size() > shown ? view_.lines().size() - shown : 0);
    PutLine(0, Head(), A_BOLD);
    PutLine(1, table_.Headings(), A_DIM);
    for (int row = 0; row < rows; ++row) {
      const size_t at = top_ + static_cast<size_t>(row);
      const bool there = at < view_.lines().size();
      PutLine(kHeadLines + row, there ? LineText(view_.lines()[at]) : "",
              there && at == cursor ? A_REVERSE : A_NORMAL);
    }
    const std::string keys = fmt::format(
        "↑↓→← move  * all  / n N find  f figure  b callers  s sort: {}  q quit", SortName());
    PutLine(kHeadLines + rows, message_.empty() ? keys : message_,
            message_.empty() ? A_DIM : A_BOLD);
    refresh();
  }

  const Profile& profile_;
  CallTreeOptions options_;
  SortKey sort_;
  const bool estimates_;
  const TextTable table_;
  TreeView view_;
  size_t top_ = 0;  // the line in the first row
  std::string search_, message_;
};

}  // namespace

bool ShowTreeScreen(const Profile& profile, const CallTreeOptions& options) {
  CallTreeOptions all = options;
  all.rows = 0;
  const FullScreen screen;
  if (!screen.works()) return false;
  Screen(profile, all).Run();
  return true;
}

}  // namespace memprof
