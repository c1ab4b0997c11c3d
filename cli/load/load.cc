#include "cli/load/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/basics/message.h"
#include "cli/load/capture_name.h"
#include "cli/load/region_process.h"
#include "cli/symbols/report_symbolizer.h"
#include "cli/terminal/terminal.h"
#include "core/region/region_reader.h"
#include "core/scoped_fd.h"
#include "formats/capture/capture_merger.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"

namespace memprof {
namespace {

tl::unexpected<Error> In(const std::string& file, const Error& error) {
  return Fail(error.kind, fmt::format("{}: {}", file, error.message));
}

// Empty, or a first page of zeros. A device or a pipe isn't read here.
bool IsUnbegun(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char page[4096] = {};
  const ssize_t n = pread(fd, page, sizeof page, 0);
  return n >= 0 && std::all_of(page, page + n, [](char byte) { return byte == 0; });
}

// A region's current content.
struct RegionContent {
  CanonicalSnapshot snapshot;
  pid_t process;  // the process that counts in it; 0: none any more
};

// Unset if the file is no region; it may be a capture.
Result<std::optional<RegionContent>> ReadIfRegion(const std::string& file) {
  const ScopedFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}: no such file; `memprof run -o FILE PROGRAM` leaves one", file));
  }
  if (!fd) return Fail(ErrorKind::kUnreadable, fmt::format("{}: {}", file, strerror(errno)));
  if (IsUnbegun(fd.get())) {
    return Fail(
        ErrorKind::kUnreadable,
        fmt::format("{}: empty: its process was killed before it counted anything, or it is "
                    "no capture",
                    file));
  }
  if (!IsRegion(fd.get())) return std::nullopt;
  SnapshotProgram program;  // the facts that a region alone doesn't have
  program.program = std::filesystem::path(file).filename().string();
  const pid_t process = FindRegionProcess(fd.get(), file);
  program.end_kind = process != 0 ? EndKind::kRunning : EndKind::kEnded;
  auto read = ReadRegion(fd.get(), program);
  if (!read) return In(file, read.error());
  return RegionContent{std::move(*read), process};
}

Result<CaptureContent> LoadContent(const std::string& file, std::vector<std::string>& lost) {
  auto region = ReadIfRegion(file);
  if (!region) return tl::unexpected<Error>(region.error());
  if (*region) {
    CaptureContent content;
    content.snapshot = std::move((*region)->snapshot).Take();
    return content;
  }
  const auto bytes = ReadCaptureFile(file);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  auto decoded = DecodeCapture(*bytes);
  if (!decoded) return In(file, decoded.error());
  for (const CaptureDamage& damage : decoded->damage) {
    Say("{}: damaged: section '{}' ({} bytes lost): {}; the rest is shown", file, damage.section,
        damage.bytes, damage.what);
    lost.push_back(fmt::format("the capture is damaged: section '{}' ({} bytes) is lost: {}",
                               damage.section, damage.bytes, damage.what));
  }
  return std::move(*decoded);
}

class NoNames : public Symbolizer {
 public:
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule>,
                                   std::span<const SnapshotFrame> frames) override {
    return std::vector<SourceChain>(frames.size(), {{"?", "", 0, false}});
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  std::vector<std::string> notes_;
};

// Reported once for all modules, since it is often most of them.
void SayWhatIsStored(const std::string& file, const std::vector<std::string>& modules) {
  if (modules.empty()) return;
  constexpr size_t kMost = 3;
  std::string names = modules[0];
  for (size_t i = 1; i < std::min(modules.size(), kMost); ++i) names += ", " + modules[i];
  if (modules.size() > kMost) names += fmt::format(" and {} more", modules.size() - kMost);
  Say("{}: {} {} not here: the names are those stored in the capture", file, names,
      modules.size() == 1 ? "is" : "are");
}

struct Loaded {
  std::string file;
  CaptureContent content;
  std::vector<std::string> damage;
  std::optional<ChosenMoment> chosen;
  std::optional<ChosenProcesses> processes;
};

CaptureContent ContentOf(MergedCapture merge) {
  return {std::move(merge.snapshot).Take(), std::move(merge.symbols), {}};
}

// Reduces the capture to the chosen processes; the stored names are then those of the frames left.
Result<ChosenProcesses> Choose(const ProcessSelector& processes, CaptureContent& content) {
  ChosenProcesses chosen = ShowProcesses(content.snapshot, processes);
  if (!chosen.figures_only) return chosen;
  CaptureMerger alone;
  if (const auto added = alone.Add(std::move(content)); !added) {
    return tl::unexpected<Error>(added.error());
  }
  content = ContentOf(alone.Take());
  return chosen;
}

// If processes are chosen, `there` gets those that are in the capture; if none of them is, nothing
// else is done.
Result<Loaded> LoadOne(const std::string& name, const ProcessSelector& processes,
                       std::vector<SnapshotProgram>& there) {
  const auto capture = ParseCaptureName(name);
  if (!capture) return tl::unexpected<Error>(capture.error());
  Loaded loaded;
  loaded.file = capture->file;
  auto content = LoadContent(capture->file, loaded.damage);
  if (!content) return tl::unexpected<Error>(content.error());
  loaded.content = std::move(*content);
  if (!processes.takes_all()) {
    const auto all = ProcessesOf(loaded.content.snapshot);
    there.insert(there.end(), all.begin(), all.end());
    auto chosen = Choose(processes, loaded.content);
    if (!chosen) return In(capture->file, chosen.error());
    loaded.processes = std::move(*chosen);
    if (loaded.processes->shown == 0) return loaded;
  }
  const bool figures_only = loaded.processes && loaded.processes->figures_only;
  if (capture->moment && figures_only && capture->moment->kind != MomentSelector::Kind::kPeak &&
      capture->moment->kind != MomentSelector::Kind::kEnd) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: what was live at moments is not kept by process; ask the "
                            "process's own capture, or leave --process out",
                            name));
  }
  if (capture->moment) {
    auto shown = ShowMoment(loaded.content.snapshot, *capture->moment);
    if (!shown) return In(capture->file, shown.error());
    loaded.chosen = std::move(*shown);
  }
  return loaded;
}

// Says which numbers and patterns match no process of the captures, or none that is kept apart.
tl::unexpected<Error> WhyNoProcess(const std::vector<std::string>& names,
                                   const ChosenProcesses& chosen,
                                   const std::vector<SnapshotProgram>& there) {
  if (chosen.without_rows != 0) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}: {}", TextOfNames(names), WhyNoneIsApart(chosen)));
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: no process is {}; there are {}", TextOfNames(names), chosen.patterns,
                          Printable(TextOfProcesses(there))));
}

Result<Loaded> LoadMerged(const std::vector<std::string>& names, const ProcessSelector& processes,
                          std::vector<SnapshotProgram>& there) {
  CaptureMerger merger;
  Loaded loaded;
  loaded.file = TextOfNames(names);
  for (const std::string& name : names) {
    auto one = LoadOne(name, processes, there);
    if (!one) return one;
    if (one->processes) {
      if (!loaded.processes) loaded.processes.emplace();
      *loaded.processes += *one->processes;
      if (one->processes->shown == 0) continue;
    }
    if (one->chosen) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: of several captures the whole is shown; store their merge "
                              "(memprof merge -o FILE) and ask for its moments",
                              name));
    }
    for (const std::string& damage : one->damage) {
      loaded.damage.push_back(fmt::format("{}: {}", name, damage));
    }
    if (const auto added = merger.Add(std::move(one->content)); !added) {
      return In(name, added.error());
    }
  }
  if (loaded.processes && loaded.processes->shown == 0) return loaded;
  loaded.content = ContentOf(merger.Take());
  if (loaded.processes && loaded.processes->figures_only) {
    LeaveFiguresOnly(loaded.content.snapshot);
  }
  return loaded;
}

Result<Loaded> Load(const Captures& captures) {
  const std::vector<std::string>& names = captures.names;
  std::vector<SnapshotProgram> there;
  auto loaded = names.size() == 1 ? LoadOne(names[0], captures.processes, there)
                                  : LoadMerged(WithoutUnbegun(names), captures.processes, there);
  if (loaded && loaded->processes && loaded->processes->shown == 0) {
    return WhyNoProcess(names, *loaded->processes, there);
  }
  return loaded;
}

// Moves the loaded snapshot into the profile; the symbols stay.
Profile ProfileOf(Loaded& loaded, Symbolizer& symbolizer, const ProfileOptions& options = {}) {
  Profile profile = MakeProfile(std::move(loaded.content.snapshot), symbolizer, options);
  profile.damage = std::move(loaded.damage);
  profile.chosen = std::move(loaded.chosen);
  profile.chosen_processes = std::move(loaded.processes);
  return profile;
}

}  // namespace

std::vector<std::string> WithoutUnbegun(const std::vector<std::string>& names) {
  std::vector<std::string> begun;
  for (const std::string& name : names) {
    const ScopedFd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd || !IsUnbegun(fd.get())) begun.push_back(name);
  }
  if (begun.empty()) return names;  // then the first one's error says it
  for (const std::string& name : names) {
    if (std::find(begun.begin(), begun.end(), name) == begun.end()) {
      Say("{} is left out: its process was killed before it counted anything", name);
    }
  }
  return begun;
}

std::string TextOfNames(const std::vector<std::string>& names) {
  return names.size() == 1 ? names[0] : fmt::format("{} captures", names.size());
}

Result<Profile> LoadProfile(const std::string& name, const SymbolOptions& symbols) {
  return LoadProfile(Captures{{name}}, symbols);
}

Result<Profile> LoadProfile(const Captures& captures, const SymbolOptions& symbols) {
  auto loaded = Load(captures);
  if (!loaded) return tl::unexpected<Error>(loaded.error());
  ReportSymbolizer symbolizer(loaded->content.symbols, symbols);
  Profile profile = ProfileOf(*loaded, symbolizer, {symbols.native_frames});
  if (symbols.says_stored) SayWhatIsStored(loaded->file, symbolizer.stored_only());
  return profile;
}

Result<Profile> LoadFigures(const Captures& captures) {
  auto loaded = Load(captures);
  if (!loaded) return tl::unexpected<Error>(loaded.error());
  NoNames no_names;
  return ProfileOf(*loaded, no_names);
}

Result<CaptureBytes> LoadCaptureBytes(const std::string& file) {
  const auto region = ReadIfRegion(file);
  if (!region) return tl::unexpected<Error>(region.error());
  if (*region) {
    return CaptureBytes{EncodeCapture((*region)->snapshot), true, (*region)->process};
  }
  auto bytes = ReadCaptureFile(file);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  return CaptureBytes{std::move(*bytes), false, 0};
}

}  // namespace memprof
