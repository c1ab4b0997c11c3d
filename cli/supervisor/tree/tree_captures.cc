#include "cli/supervisor/tree/tree_captures.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>
#include <tuple>

#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "core/region/region_reader.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"

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
  Queue([this, region, program = std::move(program), history = std::move(history),
         suffix = std::move(suffix)] {
    const auto snapshot = ReadRegion(region, program, history);
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
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    // The program may have used up the processes that it may have. The loop waits, then.
    while (WorkOnNext()) {
    }
  }
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
  do {
    const MutexLock lock(mutex_);
    while (!settling_ && queue_.empty()) changed_.wait(mutex_);
  } while (WorkOnNext());
}

bool TreeCaptures::WorkOnNext() {
  std::function<void()> work;  // holds the image
  {
    const MutexLock lock(mutex_);
    if (queue_.empty()) return false;
    work = std::move(queue_.front());
    queue_.pop_front();
  }
  try {
    work();
  } catch (const std::bad_alloc&) {
    ++failed_;
    Say("no capture of a child process: memprof is out of memory");
  }
  return true;
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
  // It can't be a duplicate: its run id is random.
  if (const auto added = merger_.Add({std::move(*snapshot).Take(), {}, {}}); !added) {
    Say("process {} is not in the merge: {}", program.pid, added.error().message);
  }
}

// Writes the image's file, if it gets one. If its name has changed, the new file replaces the old
// one.
Result<void> TreeCaptures::Write(const CanonicalSnapshot& snapshot, const std::string& suffix) {
  const uint64_t peak_bytes = SumPeak(snapshot).bytes;
  const auto earlier = std::find_if(written_.begin(), written_.end(), [&](const File& file) {
    return file.run_id == snapshot->program.run_id;
  });
  if (earlier == written_.end()) {
    if (!MakeRoomFor(peak_bytes)) return {};
    const std::string name = FreeName(suffix);
    if (auto written = WriteCaptureFile(name, snapshot); !written) return written;
    written_.push_back({peak_bytes, name, suffix, snapshot->program.run_id});
    return {};
  }
  const std::string name = earlier->suffix == suffix ? earlier->name : FreeName(suffix);
  if (auto written = WriteCaptureFile(name, snapshot); !written) return written;
  if (name != earlier->name) unlink(earlier->name.c_str());
  *earlier = {peak_bytes, name, suffix, snapshot->program.run_id};
  return {};
}

void TreeCaptures::KeepHeaviest() {
  std::sort(written_.begin(), written_.end(), [](const File& a, const File& b) {
    return std::tie(b.peak_bytes, a.name) < std::tie(a.peak_bytes, b.name);
  });
  while (written_.size() > options_.kept_files) {
    unlink(written_.back().name.c_str());
    written_.pop_back();
  }
}

// If the maximum number of files is reached and this image is heavier, removes the lightest file.
// False: the image gets no file.
bool TreeCaptures::MakeRoomFor(uint64_t peak_bytes) {
  if (written_.size() < max_files()) return true;
  const auto lightest =
      std::min_element(written_.begin(), written_.end(), [](const File& a, const File& b) {
        return std::tie(a.peak_bytes, a.name) < std::tie(b.peak_bytes, b.name);
      });
  if (lightest == written_.end() || lightest->peak_bytes >= peak_bytes) return false;
  unlink(lightest->name.c_str());
  written_.erase(lightest);
  return true;
}

// If a process reuses a pid, ".2" and so on is appended.
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
  return files;
}

Result<std::string> TreeCaptures::WriteMerge(const Snapshot* program,
                                             const std::vector<std::string>& captures,
                                             const std::vector<Unseen>& unseen) {
  if (program != nullptr) {
    Snapshot own = *program;
    // The capture's list was complete at its own end; `unseen` is complete for the whole tree.
    std::erase_if(own.unseen, [](const Unseen& one) {
      return one.kind == Unseen::Kind::kProcesses || one.kind == Unseen::Kind::kChildren;
    });
    if (const auto added = merger_.Add({std::move(own), {}, {}}); !added) {
      return tl::unexpected<Error>(added.error());
    }
  }
  std::vector<File> images;
  for (const std::string& capture : captures) {
    const auto bytes = ReadCaptureFile(capture);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    auto content = DecodeCapture(*bytes);
    if (!content) return tl::unexpected<Error>(content.error());
    if (content->snapshot.named.taken.empty()) {
      const uint64_t run_id = content->snapshot.program.run_id;
      images.push_back({SumPeak(content->snapshot).bytes, capture, {}, run_id});
    }
    if (const auto added = merger_.Add(std::move(*content)); !added) {
      return tl::unexpected<Error>(added.error());
    }
  }
  const std::string file = FreeName(".all");
  merger_.AddUnseen(unseen);
  if (const auto written = WriteCaptureFile(file, merger_.Take().snapshot); !written) {
    return tl::unexpected<Error>(written.error());
  }
  written_.insert(written_.end(), images.begin(), images.end());
  KeepHeaviest();
  return file;
}

}  // namespace memprof
