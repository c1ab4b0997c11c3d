#include "cli/supervisor/tree/tree_captures.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "core/region/region_reader.h"
#include "formats/capture_reader.h"
#include "formats/capture_writer.h"

namespace memprof {

TreeCaptures::~TreeCaptures() { Settle(); }

void TreeCaptures::Add(std::unique_ptr<Image> image, SnapshotProgram program, std::string suffix,
                       std::function<void()> read) {
  ++images_;
  Queue([this, image = std::shared_ptr<Image>(std::move(image)), program = std::move(program),
         suffix = std::move(suffix),
         read = std::move(read)] { Read(*image, program, suffix, read); });
}

void TreeCaptures::Checkpoint(const RegionPlace& region, SnapshotProgram program,
                              RegionHistory history, std::string suffix) {
  // The image may be gone, and its descriptor with it, when the thread comes to this.
  RegionPlace own = region;
  own.fd = fcntl(region.fd, F_DUPFD_CLOEXEC, 0);
  if (own.fd < 0) return;
  Queue([this, own, program = std::move(program), history = std::move(history),
         suffix = std::move(suffix)] {
    const auto snapshot = ReadRegion(own, program, history);
    close(own.fd);
    const auto written =
        snapshot ? Write(*snapshot, suffix) : tl::unexpected<Error>(snapshot.error());
    if (!written && !checkpoint_failed_) {
      Say("checkpoint of process {}: {}", program.pid, written.error().message);
    }
    checkpoint_failed_ = !written;
  });
}

bool TreeCaptures::IsIdle() {
  const MutexLock lock(mutex_);
  return queue_.empty();
}

void TreeCaptures::Queue(std::function<void()> work) {
  {
    const MutexLock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
}

void TreeCaptures::Settle() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    settling_ = true;
  }
  changed_.notify_one();
  thread_.join();
  const MutexLock lock(mutex_);
  settling_ = false;
}

void TreeCaptures::Work() {
  for (;;) {
    std::function<void()> work;  // has the image
    {
      const MutexLock lock(mutex_);
      while (!settling_ && queue_.empty()) changed_.wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

void TreeCaptures::Read(Image& image, const SnapshotProgram& program, const std::string& suffix,
                        const std::function<void()>& read) {
  const RegionHistory history = image.History(program.end_kind);
  auto snapshot = ReadRegion(image.region(), program, history);
  read();
  if (!snapshot) {
    ++failed_;
    Say("no capture of process {}: {}", program.pid, snapshot.error().message);
    return;
  }
  if (const auto written = Write(*snapshot, suffix); !written) {
    ++failed_;
    Say("no capture of process {}: {}", program.pid, written.error().message);
  }
  // It can't be there already: its run id is by chance.
  if (const auto added = merger_.Add({std::move(*snapshot), {}, {}}); !added) {
    Say("process {} is not in the merge: {}", program.pid, added.error().message);
  }
}

// The image's file, if it is to have one; where its name is another now, instead of the earlier.
Result<void> TreeCaptures::Write(const Snapshot& snapshot, const std::string& suffix) {
  const uint64_t peak_bytes = SumPeak(snapshot).bytes;
  const auto earlier = std::find_if(written_.begin(), written_.end(), [&](const File& file) {
    return file.run_id == snapshot.program.run_id;
  });
  if (earlier == written_.end()) {
    if (!MakeRoomFor(peak_bytes)) return {};
    const std::string name = FreeName(suffix);
    if (auto written = WriteCaptureFile(name, snapshot); !written) return written;
    written_.push_back({peak_bytes, name, suffix, snapshot.program.run_id});
    return {};
  }
  const std::string name = earlier->suffix == suffix ? earlier->name : FreeName(suffix);
  if (auto written = WriteCaptureFile(name, snapshot); !written) return written;
  if (name != earlier->name) unlink(earlier->name.c_str());
  *earlier = {peak_bytes, name, suffix, snapshot.program.run_id};
  return {};
}

// Removes the lightest file if there are as many as there may be and this one is heavier. False: it
// gets none.
bool TreeCaptures::MakeRoomFor(uint64_t peak_bytes) {
  if (written_.size() < options_.max_files) return true;
  const auto lightest =
      std::min_element(written_.begin(), written_.end(), [](const File& a, const File& b) {
        return std::tie(a.peak_bytes, a.name) < std::tie(b.peak_bytes, b.name);
      });
  if (lightest == written_.end() || lightest->peak_bytes >= peak_bytes) return false;
  unlink(lightest->name.c_str());
  written_.erase(lightest);
  return true;
}

// A process whose pid came again gets ".2" and so on behind it.
std::string TreeCaptures::FreeName(const std::string& suffix) const {
  const auto is_ours = [this](const std::string& name) {
    return std::any_of(written_.begin(), written_.end(),
                       [&](const File& file) { return file.name == name; });
  };
  std::string name = InsertBeforeExtension(options_.output, suffix);
  for (int use = 2;; ++use) {
    std::error_code error;
    if (!is_ours(name) && (options_.overwrite || !std::filesystem::exists(name, error))) {
      return name;
    }
    name = InsertBeforeExtension(options_.output, suffix + "." + std::to_string(use));
  }
}

std::vector<std::string> TreeCaptures::files() const {
  std::vector<std::string> files;
  for (const File& file : written_) files.push_back(file.name);
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> TreeCaptures::WriteMerge(const Snapshot* program,
                                             const std::vector<std::string>& captures,
                                             const std::vector<Unseen>& unseen) {
  if (program != nullptr) {
    Snapshot own = *program;
    // What it tells of the descendants is of its own end, and `unseen` of all of them.
    std::erase_if(own.unseen, [](const Unseen& one) {
      return one.kind == Unseen::Kind::kProcesses || one.kind == Unseen::Kind::kChildren;
    });
    if (const auto added = merger_.Add({std::move(own), {}, {}}); !added) {
      return tl::unexpected<Error>(added.error());
    }
  }
  for (const std::string& capture : captures) {
    const auto bytes = ReadCaptureFile(capture);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    auto content = DecodeCapture(*bytes);
    if (!content) return tl::unexpected<Error>(content.error());
    if (const auto added = merger_.Add(std::move(*content)); !added) {
      return tl::unexpected<Error>(added.error());
    }
  }
  const std::string file = FreeName(".all");
  auto merged = merger_.Take();
  AddUnseen(merged.snapshot.unseen, unseen);
  if (const auto written = WriteCaptureFile(file, merged.snapshot); !written) {
    return tl::unexpected<Error>(written.error());
  }
  return file;
}

}  // namespace memprof
