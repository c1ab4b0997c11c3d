// memprof top: what holds a running program's memory, look after look.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "cli/basics/ascii_text.h"
#include "cli/basics/option_checks.h"
#include "cli/basics/time_option.h"
#include "cli/commands/commands.h"
#include "cli/inspect/viewer_inspection.h"
#include "cli/live/live_text.h"
#include "cli/live/top_screen.h"
#include "cli/terminal/full_screen.h"
#include "cli/terminal/output.h"

namespace memprof {
namespace {

constexpr std::chrono::milliseconds kShortestDelay{50};

struct TopOptions {
  std::string target;
  std::chrono::milliseconds delay{1000};
  std::string by = "place";
  std::string sort = "live";
  std::string filter;
  uint32_t process = 0;
  size_t rows = 30;
  bool inclusive = false;
  bool once = false;
  bool json = false;
};

template <typename Value, size_t N>
Result<Value> ByName(const Value (&all)[N], const std::string& option, const std::string& name) {
  std::string known;
  for (const Value value : all) {
    if (name == NameOf(value)) return value;
    known += std::string(known.empty() ? "" : ", ") + NameOf(value);
  }
  return Fail(ErrorKind::kUsage, fmt::format("{} {}: one of {}", option, name, known));
}

// Which ones there are to choose from.
void SayRuns() {
  const auto runs = LivingRuns();
  if (!runs.empty()) std::fputs(ForLocale(RunsText(runs, StyleOfFile())).c_str(), stderr);
}

int Top(const TopOptions& options) {
  const auto by = ByName(kAllLiveBys, "--by", options.by);
  if (!by) return ExitStatusOf(by.error());
  const auto sort = ByName(kAllLiveSorts, "-s", options.sort);
  if (!sort) return ExitStatusOf(sort.error());
  if (options.delay < kShortestDelay) {
    return ExitStatusOf(
        {ErrorKind::kUsage, fmt::format("-d: at least {} ms", kShortestDelay.count())});
  }
  const LiveView view = {*by, options.inclusive, *sort, options.filter};
  auto found = FindRun(options.target);
  if (!found) {
    if (options.target.empty()) SayRuns();
    return ExitStatusOf(found.error());
  }
  const bool is_here = !found->served;
  LiveSession session(std::move(*found));
  session.ShowProcess(static_cast<pid_t>(options.process));
  if (!options.once && !options.json && FullScreen::CanShow()) {
    session.Look();
    TopScreenOptions screen;
    screen.view = view;
    screen.delay = options.delay;
    if (is_here) {
      screen.inspect = InspectionTextOf;
      screen.cost_of_inspecting = CostOfInspecting;
    }
    if (ShowTopScreen(session, screen)) return kExitFine;
  }
  for (;;) {
    session.Look(true);
    // Changes and rates need two looks.
    if (options.once) {
      std::this_thread::sleep_for(options.delay);
      session.Look(true);
    }
    const std::string text =
        options.json ? LiveJson(session, view, options.rows)
                     : ForLocale(LiveHeadText(session) + "\n" +
                                 LiveTableText(session, view, options.rows, StyleOfStdout()));
    const int status = WriteOutput({}, text);
    if (status != kExitFine || options.once || session.ended()) return status;
    std::this_thread::sleep_for(options.delay);
    if (!options.json) WriteOutput({}, "\n");
  }
}

}  // namespace

CommandBody SetUpTop(Arguments& arguments) {
  auto options = std::make_shared<TopOptions>();
  arguments
      .Add(
          "run", options->target,
          "The program's pid, that of its memprof run, the run's capture or region, or where it is "
          "served: http://HOST:PORT (default: the only run there is)")
      .TypeName("PID|CAPTURE|URL");
  AddTimeOption(arguments, "-d,--delay", options->delay, "The time from one look to the next");
  arguments.Add("--by", options->by, "What a row is")
      .TypeName("place|function|site|module|thread|process")
      .ShowDefault();
  arguments.Add("-s,--sort", options->sort, "What the rows are sorted by")
      .TypeName("live|change|minute|peak|rate|blocks|name")
      .ShowDefault();
  arguments.Add("--filter", options->filter, "Only rows whose name, place or module has this text")
      .TypeName("WORD");
  arguments.AddFlag("--inclusive", options->inclusive, "With what is called from there");
  arguments.Add("--process", options->process, "Only this process (default: the whole tree)")
      .TypeName("PID");
  arguments.Add("-n,--rows", options->rows, "At most so many rows of text or JSON; 0: all")
      .ShowDefault()
      .Check(RowCount);
  arguments.AddFlag("--once", options->once, "Prints one look and ends");
  arguments.AddFlag("--json", options->json, "One line of JSON a look");
  return [options] { return Top(*options); };
}

}  // namespace memprof
