// memprof tree: the call tree, on a terminal, as text or as data.

#include <memory>

#include "cli/basics/ascii_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/view_options.h"
#include "cli/reports/report.h"
#include "cli/reports/tree/tree_data.h"
#include "cli/reports/tree/tree_screen.h"
#include "cli/reports/tree/tree_text.h"
#include "cli/terminal/full_screen.h"

namespace memprof {

CommandBody SetUpTree(Arguments& arguments) {
  constexpr size_t kRows = 60;
  struct Options {
    ViewOptions view;
    bool all_frames = false;
    bool bottom_up = false;
    bool plain = false;
  };
  auto options = std::make_shared<Options>();
  AddViewOptions(arguments, options->view, kRows);
  arguments.AddFlag("-a,--all-frames", options->all_frames,
                    "Also the frames of libc, libstdc++ and allocators, which are folded else");
  arguments.AddFlag("--bottom-up", options->bottom_up,
                    "The functions that allocate above who calls them");
  arguments.AddFlag("--plain", options->plain,
                    "As text on a terminal too, where it is shown interactively else");
  return [options] {
    const ViewOptions& view = options->view;
    const auto sort = ParseSortKey(view.sort);
    if (!sort) return ExitStatusOf(sort.error());
    const bool data = view.json || view.csv;
    const CallTreeOptions tree = {view.figure(),
                                  view.show_runtime,
                                  options->all_frames,
                                  options->bottom_up,
                                  data ? view.DataRows() : view.rows,
                                  *sort};
    const bool interactive =
        !data && !options->plain && IsStdout(view.output) && FullScreen::CanShow();
    return Report(view.captures, view.symbols, view.output, view.figure(),
                  [&](const Profile& profile, const TextStyle& style) {
                    if (view.json) return TreeJson(profile, tree);
                    if (view.csv) return TreeCsv(profile, tree);
                    if (interactive && ShowTreeScreen(profile, tree)) return std::string();
                    return ForLocale(TreeText(profile, tree, style));
                  });
  };
}

}  // namespace memprof
