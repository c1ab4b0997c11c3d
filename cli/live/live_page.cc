#include "cli/live/live_page.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include "cli/basics/output_name.h"
#include "cli/reports/exactness.h"
#include "cli/terminal/output.h"
#include "cli/web/page.h"
#include "core/base_name.h"
#include "core/printable.h"
#include "formats/atomic_file.h"
#include "formats/capture/capture_writer.h"

namespace memprof {
namespace {

constexpr char kOpen[] = R"(command -v xdg-open >/dev/null || exit 1
setsid xdg-open "$1" </dev/null >/dev/null 2>&1 &)";
constexpr char kNothing[] = "nothing counts in this run yet";

bool HasDisplay() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

// Without waiting for what shows it: the shell ends at once.
bool OpenPage(const std::string& file) {
  std::vector<std::string> words = {"/bin/sh", "-c", kOpen, "sh", file};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, "/bin/sh", nullptr, nullptr, argv.data(), environ) != 0) return false;
  int status = 0;
  return waitpid(pid, &status, 0) == pid && status == 0;
}

// The capture's name in the working directory. Its own folder may be on another machine, or where another
// user wants us to write.
std::string CaptureHere(const LiveSession& session) {
  return std::string(BaseName(session.run().capture));
}

}  // namespace

std::string NameForLook(const LiveSession& session) {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  char text[16] = {};
  if (localtime_r(&now, &parts) != nullptr) std::strftime(text, sizeof text, "%H%M%S", &parts);
  return InsertBeforeExtension(CaptureHere(session), std::string(".") + text);
}

std::string SaveLook(const LiveSession& session, const std::string& file) {
  const auto capture = session.Capture();
  if (!capture) return kNothing;
  if (file.empty()) return "nothing is written: no name was given";
  const OutputOptions output = {file, false};
  if (const auto free = CheckOutput(output); !free) return free.error().message;
  const auto written = WriteCaptureFile(file, *capture);
  return written ? "written: " + Printable(file) : written.error().message;
}

std::string WriteLookPage(LiveSession& session) {
  const auto profile = session.Merged();
  if (!profile) return kNothing;
  PageOptions page;
  page.mode = Figure::kLeaked;
  page.capture = fmt::format("{} {}", session.program(), session.run().program);
  page.warnings = ExactnessNotes(*profile);
  const std::string file = fmt::format("{}.{}.html", CaptureHere(session), session.run().program);
  if (const auto written = WriteFileAtomically(file, MakePage(*profile, page), Readers::kByUmask);
      !written) {
    return written.error().message;
  }
  const bool opened = HasDisplay() && OpenPage(CanonicalName(file));
  return fmt::format("{}: {}", opened ? "opened" : "written", Printable(file));
}

}  // namespace memprof
