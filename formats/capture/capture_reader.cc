#include "formats/capture/capture_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/protocol/region_layout.h"
#include "core/protocol/sample_weight.h"
#include "formats/capture/byte_reader.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/capture_sections.h"
#include "formats/capture/history_sections.h"
#include "formats/capture/inspection_section.h"
#include "formats/capture/mapping_sections.h"
#include "formats/capture/process_sections.h"
#include "formats/capture/program_sections.h"
#include "formats/capture/python_section.h"
#include "formats/capture/site_sections.h"

namespace memprof {
namespace {

namespace cf = capture_format;

// Each Decode… returns false for content that breaks the format. Bytes after the known ones come
// from a newer writer and are ignored.

bool DecodeTracker(std::string_view raw, SnapshotTracker& tracker) {
  ByteReader in(raw);
  for (uint64_t* value :
       {&tracker.bytes, &tracker.dropped_events, &tracker.truncated_stacks,
        &tracker.incomplete_stacks, &tracker.tables_full_events, &tracker.unknown_frees,
        &tracker.counter_peak_bytes, &tracker.peak_bound_bytes, &tracker.unattributed_bytes}) {
    *value = in.Varint();
  }
  tracker.stop_reason = static_cast<uint32_t>(in.Varint());
  tracker.fork_children = static_cast<uint32_t>(in.Varint());
  tracker.inexact_read = in.Varint() != 0;
  tracker.unnamed_frames = in.empty() ? 0 : in.Varint();
  tracker.unread_python = in.empty() ? 0 : in.Varint();
  return !in.failed();
}

bool DecodeAttached(std::string_view raw, SnapshotTracker& tracker) {
  ByteReader in(raw);
  tracker.attached = in.Varint();
  tracker.before_attach_frees = in.Varint();
  tracker.before_attach_bytes = in.Varint();
  return !in.failed() && tracker.attached != 0;
}

bool DecodeModules(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  snapshot.modules.resize(in.CountOfItems(2, cf::kMaxTexts));
  for (SnapshotModule& module : snapshot.modules) module.path = in.String();
  for (SnapshotModule& module : snapshot.modules) module.build_id = in.String();
  return !in.failed();
}

// `has_python`: the section with the Python functions was read.
bool DecodeFrames(std::string_view raw, bool has_python, Snapshot& snapshot) {
  ByteReader in(raw);
  snapshot.frames.resize(in.CountOfItems(2));
  uint64_t module = 0;
  uint64_t offset = 0;
  for (SnapshotFrame& frame : snapshot.frames) {
    if (in.Delta(module) > snapshot.modules.size()) return false;
    frame.module = static_cast<uint32_t>(module) - 1u;
  }
  for (SnapshotFrame& frame : snapshot.frames) frame.offset = in.Delta(offset);
  return !in.failed() && CheckPythonFrames(!has_python, snapshot);
}

// No tracker keeps stacks as deep. A report's work is the sum of all stacks, so a file of some hundred
// bytes must not have one of a million frames.
constexpr uint16_t kDeepestStack = 2 * kMaxFrames;

bool DecodeNodes(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  snapshot.nodes.resize(in.CountOfItems(2) + 1);
  std::vector<uint16_t> depths(snapshot.nodes.size());
  uint64_t frame = 0;
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    const uint64_t back = in.Varint();
    if (back == 0 || back > i) return false;
    snapshot.nodes[i].parent = static_cast<uint32_t>(i - back);
    depths[i] = static_cast<uint16_t>(depths[i - back] + 1);
    if (depths[i] > kDeepestStack) return false;
  }
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    if (in.Delta(frame) >= snapshot.frames.size()) return false;
    snapshot.nodes[i].frame = static_cast<uint32_t>(frame);
  }
  return !in.failed();
}

bool DecodeThreadNames(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  for (uint64_t n = in.CountOfItems(1, cf::kMaxTexts); n > 0 && !in.failed(); --n) {
    snapshot.thread_names.emplace_back(in.String());
  }
  return !in.failed();
}

bool DecodeSampling(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  snapshot.tracker.sample_bytes = in.Varint();
  snapshot.sites.resize(in.CountOfItems(1));
  for (SnapshotSite& site : snapshot.sites) {
    const uint64_t size_class = in.Varint();
    if (size_class > kLargestSizeClass) return false;
    site.size_class = static_cast<uint32_t>(size_class);
  }
  return !in.failed() && snapshot.tracker.sample_bytes != 0;
}

bool DecodeSites(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  const uint64_t count = in.CountOfItems(8);
  if (snapshot.tracker.sample_bytes != 0 && count != snapshot.sites.size()) return false;
  snapshot.sites.resize(count);
  uint64_t node = 0;
  for (SnapshotSite& site : snapshot.sites) {
    if (in.Delta(node) >= snapshot.nodes.size()) return false;
    site.node = static_cast<uint32_t>(node);
  }
  for (SnapshotSite& site : snapshot.sites) {
    const uint64_t name = in.Varint();
    if (name >= snapshot.thread_names.size()) return false;
    site.thread_name = static_cast<uint32_t>(name);
  }
  for (const auto figure : {&SnapshotSite::peak, &SnapshotSite::leaked, &SnapshotSite::total}) {
    for (SnapshotSite& site : snapshot.sites) (site.*figure).bytes = in.Varint();
    for (SnapshotSite& site : snapshot.sites) (site.*figure).allocations = in.Varint();
  }
  return !in.failed();
}

bool IsEssential(uint32_t type) {
  return type == cf::kModules || type == cf::kFrames || type == cf::kNodes ||
         type == cf::kThreadNames || type == cf::kSites || type == cf::kSampling ||
         type == cf::kSources;
}

// Sections with an entry for each site, in the sites' order.
bool IsOfSites(uint32_t type) {
  return type == cf::kKinds || type == cf::kTemporary || type == cf::kSizes ||
         type == cf::kMoments || type == cf::kNamed || type == cf::kProcesses ||
         type == cf::kRunningThreads;
}

bool Decode(const CaptureSection& section, bool has_python, CaptureContent& content) {
  Snapshot& snapshot = content.snapshot;
  switch (section.type) {
    case cf::kProgram:
      return DecodeProgram(section.raw, snapshot.program);
    case cf::kTracker:
      return DecodeTracker(section.raw, snapshot.tracker);
    case cf::kModules:
      return DecodeModules(section.raw, snapshot);
    case cf::kFrames:
      return DecodeFrames(section.raw, has_python, snapshot);
    case cf::kPython:
      return DecodePython(section.raw, snapshot.python);
    case cf::kNodes:
      return DecodeNodes(section.raw, snapshot);
    case cf::kThreadNames:
      return DecodeThreadNames(section.raw, snapshot);
    case cf::kSampling:
      return DecodeSampling(section.raw, snapshot);
    case cf::kSites:
      return DecodeSites(section.raw, snapshot);
    case cf::kKinds:
      return DecodeKinds(section.raw, snapshot);
    case cf::kTemporary:
      return DecodeTemporary(section.raw, snapshot);
    case cf::kSizes:
      return DecodeSizes(section.raw, snapshot);
    case cf::kTimeline:
      return DecodeTimeline(section.raw, snapshot.timeline);
    case cf::kMoments:
      return DecodeMoments(section.raw, snapshot);
    case cf::kNamed:
      return DecodeNamed(section.raw, snapshot);
    case cf::kAttached:
      return DecodeAttached(section.raw, snapshot.tracker);
    case cf::kSources:
      return DecodeSources(section.raw, snapshot.sources);
    case cf::kMappings:
      return DecodeMappings(section.raw, snapshot);
    case cf::kMemory:
      return DecodeMemory(section.raw, snapshot.memory);
    case cf::kProcesses:
      return DecodeProcesses(section.raw, snapshot);
    case cf::kAllocatorLive:
      return DecodeAllocatorLive(section.raw, snapshot.memory);
    case cf::kMappingMoments:
      return DecodeMappingMoments(section.raw, snapshot);
    case cf::kUnseen:
      return DecodeUnseen(section.raw, snapshot.unseen);
    case cf::kRunningThreads:
      return DecodeRunningThreads(section.raw, snapshot);
    case cf::kInspection:
      return DecodeInspection(section.raw, snapshot.nodes.size(), snapshot.inspection);
    case cf::kSymbols:
      return DecodeSymbols(section.raw, snapshot.modules.size(), snapshot.frames.size(),
                           content.symbols);
    default:
      return true;  // unknown: skipped
  }
}

bool IsKnown(uint32_t type) {
  return (type >= cf::kProgram && type <= cf::kSampling) || type == cf::kTimeline ||
         type == cf::kSources || type == cf::kMappings || type == cf::kMemory ||
         type == cf::kAttached || type == cf::kAllocatorLive || type == cf::kUnseen ||
         type == cf::kMappingMoments || type == cf::kPython || type == cf::kInspection ||
         IsOfSites(type);
}

// The facts of a damaged section that isn't essential become unknown.
void Forget(uint32_t type, Snapshot& snapshot) {
  switch (type) {
    case cf::kProgram:
      snapshot.program = {};
      break;
    case cf::kTracker: {
      const SnapshotTracker& tracker = snapshot.tracker;
      SnapshotTracker rest;
      rest.sample_bytes = tracker.sample_bytes;
      rest.temporary_threshold = tracker.temporary_threshold;
      snapshot.tracker = rest;
      break;
    }
    case cf::kKinds:
      ForgetKinds(snapshot);
      break;
    case cf::kTemporary:
      ForgetTemporary(snapshot);
      break;
    case cf::kSizes:
      ForgetSizes(snapshot);
      break;
    case cf::kTimeline:
      snapshot.timeline = {};
      break;
    case cf::kMoments:
      DropMoments(snapshot);
      break;
    case cf::kNamed:
      DropNamed(snapshot);
      break;
    case cf::kMappings:
      snapshot.mappings = {};
      break;
    case cf::kMemory:
      snapshot.memory = {};
      break;
    case cf::kProcesses:
      snapshot.processes.clear();
      break;
    case cf::kPython:
      snapshot.python.clear();
      CheckPythonFrames(true, snapshot);  // those that were read already
      break;
    case cf::kAllocatorLive:
      ForgetAllocatorLive(snapshot.memory);
      break;
    case cf::kMappingMoments:
      DropMappingMoments(snapshot.mappings);
      break;
    case cf::kUnseen:
      snapshot.unseen.clear();
      break;
    case cf::kRunningThreads:
      ForgetRunningThreads(snapshot);
      break;
    case cf::kInspection:
      snapshot.inspection = {};
      break;
    case cf::kAttached:
      snapshot.tracker.attached = 0;
      snapshot.tracker.before_attach_frees = 0;
      snapshot.tracker.before_attach_bytes = 0;
      break;
    default:
      break;
  }
}

bool BeginsAsCapture(std::string_view bytes) {
  return bytes.starts_with(std::string_view(cf::kMagic, sizeof cf::kMagic));
}

Result<void> CheckFileHeader(std::string_view bytes) {
  if (!BeginsAsCapture(bytes)) {
    return Fail(ErrorKind::kUnreadable, "not a capture of memprof");
  }
  ByteReader header(bytes.substr(sizeof cf::kMagic));
  const auto version = header.Fixed<uint32_t>();
  if (header.failed()) return Fail(ErrorKind::kUnreadable, "the capture is cut short");
  if (version != cf::kVersion) {
    return Fail(
        ErrorKind::kUnreadable,
        fmt::format("a capture of format {}; this memprof reads format {}", version, cf::kVersion));
  }
  return {};
}

}  // namespace

Result<CaptureContent> DecodeCapture(std::string_view bytes) {
  if (const auto fine = CheckFileHeader(bytes); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  const CaptureSections split = SplitSections(bytes);
  CaptureContent content;
  bool seen[cf::kNewest + 1] = {};
  for (const CaptureSection& section : split.sections) {
    const bool known = IsKnown(section.type);
    std::string what = section.damage;
    if (what.empty() && !known && (section.flags & cf::kFlagCritical) != 0) {
      return Fail(ErrorKind::kUnreadable,
                  fmt::format("the capture has a section ({}) that needs a newer memprof",
                              SectionName(section.type)));
    }
    if (what.empty() && known && seen[section.type]) what = "it is there twice";
    if (what.empty() && section.type == cf::kSampling && seen[cf::kSites]) {
      what = "it comes after the sites";
    }
    if (what.empty() && section.type == cf::kPython && seen[cf::kFrames]) {
      what = "it comes after the frames";
    }
    if (what.empty() && IsOfSites(section.type) && !seen[cf::kSites]) {
      what = "it comes before the sites";
    }
    if (what.empty() && section.type == cf::kMappings &&
        (!seen[cf::kNodes] || !seen[cf::kThreadNames])) {
      what = "it comes before the nodes or the thread names";
    }
    if (what.empty() && section.type == cf::kInspection && !seen[cf::kNodes]) {
      what = "it comes before the nodes";
    }
    if (what.empty() && section.type == cf::kMappingMoments &&
        (!seen[cf::kMoments] || !seen[cf::kMappings])) {
      what = "it comes before the moments or the mappings";
    }
    if (what.empty() && section.type == cf::kSymbols &&
        (!seen[cf::kModules] || !seen[cf::kFrames])) {
      what = "it comes before the modules or the frames";
    }
    if (what.empty() && !Decode(section, seen[cf::kPython], content))
      what = "its content is broken";
    if (what.empty()) {
      if (known) seen[section.type] = true;
      continue;
    }
    if (IsEssential(section.type)) {
      return Fail(
          ErrorKind::kUnreadable,
          fmt::format("the capture is damaged: section '{}' ({} bytes at {}): {}",
                      SectionName(section.type), section.stored_bytes, section.file_offset, what));
    }
    content.damage.push_back({SectionName(section.type), section.stored_bytes, what});
    Forget(section.type, content.snapshot);
    if (section.type == cf::kSymbols) content.symbols = {};
  }
  for (const uint32_t type :
       {cf::kModules, cf::kFrames, cf::kNodes, cf::kThreadNames, cf::kSites}) {
    if (seen[type]) continue;
    return Fail(
        ErrorKind::kUnreadable,
        fmt::format("the capture is cut short: section '{}' is missing", SectionName(type)));
  }
  if (!split.complete) content.damage.push_back({"end", 0, "the end of the file is missing"});
  return content;
}

namespace {

// Reads only the beginning if `goes_on` returns false for the first bytes.
Result<std::string> ReadFile(const std::string& path, bool (*goes_on)(std::string_view)) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto why = [&](const char* reason) {
    return Fail(ErrorKind::kUnreadable, fmt::format("{}: {}", path, reason));
  };
  constexpr char too_large[] = "larger than 1 GiB, which no file is that memprof reads";
  static_assert(cf::kMaxFileBytes == 1ull << 30);
  if (fd < 0) return why(strerror(errno));
  struct Close {
    int fd;
    ~Close() { close(fd); }
  } const closing{fd};
  struct stat info;
  if (fstat(fd, &info) != 0) return why(strerror(errno));
  if (S_ISDIR(info.st_mode)) return why("is a directory, not a file");
  if (S_ISREG(info.st_mode) && info.st_size > static_cast<off_t>(cf::kMaxFileBytes)) {
    return why(too_large);
  }
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return why(strerror(errno));
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
    if (bytes.size() >= sizeof cf::kMagic && !goes_on(bytes)) return bytes;
    if (bytes.size() > cf::kMaxFileBytes) return why(too_large);
  }
}

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path) {
  return ReadFile(path, [](std::string_view) { return true; });
}

Result<std::string> ReadCaptureFile(const std::string& path) {
  return ReadFile(path, BeginsAsCapture);
}

}  // namespace memprof
