#include "cli/reports/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/message.h"
#include "cli/reports/capture_name.h"
#include "core/region_reader.h"
#include "formats/capture_reader.h"

namespace memprof {
namespace {

tl::unexpected<Error> In(const std::string& file, const Error& error) {
  return Fail(error.kind, fmt::format("{}: {}", file, error.message));
}

// False: no region, a capture perhaps.
Result<bool> ReadIfRegion(const std::string& file, Snapshot& snapshot) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}: no such file; `memprof run -o FILE PROGRAM` leaves one", file));
  }
  if (fd < 0) return Fail(ErrorKind::kUnreadable, fmt::format("{}: {}", file, strerror(errno)));
  struct Close {
    int fd;
    ~Close() { close(fd); }
  } const closing{fd};
  if (!IsRegion(fd)) return false;
  SnapshotProgram program;  // all that a region alone does not know
  program.program = std::filesystem::path(file).filename().string();
  auto read = ReadRegion(fd, program);
  if (!read) return In(file, read.error());
  snapshot = std::move(*read);
  return true;
}

Result<Snapshot> LoadSnapshot(const std::string& file, std::vector<std::string>& lost) {
  Snapshot snapshot;
  const auto region = ReadIfRegion(file, snapshot);
  if (!region) return tl::unexpected<Error>(region.error());
  if (*region) return snapshot;
  const auto bytes = ReadWholeFile(file);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  auto content = DecodeCapture(*bytes);
  if (!content) return In(file, content.error());
  for (const CaptureDamage& damage : content->damage) {
    Say("{}: damaged: section '{}' ({} bytes lost): {}; the rest is shown", file, damage.section,
        damage.bytes, damage.what);
    lost.push_back(fmt::format("the capture is damaged: section '{}' ({} bytes) is lost: {}",
                               damage.section, damage.bytes, damage.what));
  }
  return std::move(content->snapshot);
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

Result<Profile> Load(const std::string& name, Symbolizer& symbolizer) {
  const auto capture = ParseCaptureName(name);
  if (!capture) return tl::unexpected<Error>(capture.error());
  std::vector<std::string> damage;
  auto snapshot = LoadSnapshot(capture->file, damage);
  if (!snapshot) return tl::unexpected<Error>(snapshot.error());
  std::optional<ChosenMoment> chosen;
  if (capture->moment) {
    auto shown = ShowMoment(*snapshot, *capture->moment);
    if (!shown) return In(capture->file, shown.error());
    chosen = std::move(*shown);
  }
  Profile profile = MakeProfile(*snapshot, symbolizer);
  profile.damage = std::move(damage);
  profile.chosen = std::move(chosen);
  return profile;
}

}  // namespace

Result<Profile> LoadProfile(const std::string& name) { return Load(name, *MakeSymbolizer()); }

Result<Profile> LoadFigures(const std::string& name) {
  NoNames no_names;
  return Load(name, no_names);
}

}  // namespace memprof
