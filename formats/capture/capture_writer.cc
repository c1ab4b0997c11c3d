#include "formats/capture/capture_writer.h"

#include <utility>

#include "core/region/within_memory.h"
#include "formats/atomic_file.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/history_sections.h"
#include "formats/capture/inspection_section.h"
#include "formats/capture/mapping_sections.h"
#include "formats/capture/process_sections.h"
#include "formats/capture/program_sections.h"
#include "formats/capture/python_section.h"
#include "formats/capture/section_writer.h"
#include "formats/capture/site_sections.h"

namespace memprof {
namespace {

namespace cf = capture_format;

std::string EncodeTracker(const SnapshotTracker& tracker) {
  ByteWriter out;
  for (const uint64_t value :
       {tracker.bytes, tracker.dropped_events, tracker.truncated_stacks, tracker.incomplete_stacks,
        tracker.tables_full_events, tracker.unknown_frees, tracker.counter_peak_bytes,
        tracker.peak_bound_bytes, tracker.unattributed_bytes, uint64_t{tracker.stop_reason},
        uint64_t{tracker.fork_children}, uint64_t{tracker.inexact_read}}) {
    out.Varint(value);
  }
  if (tracker.unnamed_frames != 0 || tracker.unread_python != 0) {
    out.Varint(tracker.unnamed_frames);
  }
  if (tracker.unread_python != 0) out.Varint(tracker.unread_python);
  return out.bytes();
}

// Empty if no tracker was attached.
std::string EncodeAttached(const SnapshotTracker& tracker) {
  ByteWriter out;
  if (tracker.attached == 0) return out.bytes();
  for (const uint64_t value :
       {tracker.attached, tracker.before_attach_frees, tracker.before_attach_bytes}) {
    out.Varint(value);
  }
  return out.bytes();
}

std::string EncodeModules(const std::vector<SnapshotModule>& modules) {
  ByteWriter out;
  out.Varint(modules.size());
  for (const SnapshotModule& module : modules) out.String(module.path);
  for (const SnapshotModule& module : modules) out.String(module.build_id);
  return out.bytes();
}

std::string EncodeFrames(const std::vector<SnapshotFrame>& frames) {
  ByteWriter out;
  out.Varint(frames.size());
  uint64_t module = 0;
  uint64_t offset = 0;
  // kNoModule becomes 0, so that every module is a small number.
  for (const SnapshotFrame& frame : frames) out.Delta(frame.module + 1u, module);
  for (const SnapshotFrame& frame : frames) out.Delta(frame.offset, offset);
  return out.bytes();
}

std::string EncodeNodes(const std::vector<SnapshotNode>& nodes) {
  ByteWriter out;
  out.Varint(nodes.size() - 1);  // the root is implied
  uint64_t frame = 0;
  for (size_t i = 1; i < nodes.size(); ++i) out.Varint(i - nodes[i].parent);
  for (size_t i = 1; i < nodes.size(); ++i) out.Delta(nodes[i].frame, frame);
  return out.bytes();
}

std::string EncodeThreadNames(const std::vector<std::string>& names) {
  ByteWriter out;
  out.Varint(names.size());
  for (const std::string& name : names) out.String(name);
  return out.bytes();
}

std::string EncodeSites(const std::vector<SnapshotSite>& sites) {
  ByteWriter out;
  out.Varint(sites.size());
  uint64_t node = 0;
  for (const SnapshotSite& site : sites) out.Delta(site.node, node);
  for (const SnapshotSite& site : sites) out.Varint(site.thread_name);
  for (const auto figure : {&SnapshotSite::peak, &SnapshotSite::leaked, &SnapshotSite::total}) {
    for (const SnapshotSite& site : sites) out.Varint((site.*figure).bytes);
    for (const SnapshotSite& site : sites) out.Varint((site.*figure).allocations);
  }
  return out.bytes();
}

std::string EncodeSampling(uint64_t sample_bytes, const std::vector<SnapshotSite>& sites) {
  ByteWriter out;
  out.Varint(sample_bytes);
  out.Varint(sites.size());
  for (const SnapshotSite& site : sites) out.Varint(site.size_class);
  return out.bytes();
}

}  // namespace

std::string EncodeCapture(const CanonicalSnapshot& canonical) {
  const Snapshot& snapshot = *canonical;
  ByteWriter out;
  out.Raw({cf::kMagic, sizeof cf::kMagic});
  out.Fixed(cf::kVersion);
  out.Fixed(uint32_t{0});
  const std::pair<uint32_t, std::string> stacks[] = {
      {cf::kProgram, EncodeProgram(snapshot.program)},
      {cf::kTracker, EncodeTracker(snapshot.tracker)},
      {cf::kModules, EncodeModules(snapshot.modules)},
      {cf::kPython, EncodePython(snapshot.python)},
      {cf::kFrames, EncodeFrames(snapshot.frames)},
      {cf::kNodes, EncodeNodes(snapshot.nodes)},
      {cf::kThreadNames, EncodeThreadNames(snapshot.thread_names)},
  };
  uint64_t sections = 1;
  for (const auto& [type, raw] : stacks) {
    if (type == cf::kPython && raw.empty()) continue;
    AppendSection(out, type, raw);
    ++sections;
  }
  // A reader that doesn't know samples would take the estimates for exact figures.
  if (const uint64_t sample_bytes = snapshot.tracker.sample_bytes; sample_bytes != 0) {
    AppendSection(out, cf::kSampling, EncodeSampling(sample_bytes, snapshot.sites),
                  cf::kFlagCritical);
    ++sections;
  }
  // Critical, too: such a reader would take a merge for one program.
  if (const std::string sources = EncodeSources(snapshot.sources); !sources.empty()) {
    AppendSection(out, cf::kSources, sources, cf::kFlagCritical);
    ++sections;
  }
  AppendSection(out, cf::kSites, EncodeSites(snapshot.sites));
  const std::pair<uint32_t, std::string> details[] = {
      {cf::kKinds, EncodeKinds(snapshot)},
      {cf::kTemporary, EncodeTemporary(snapshot)},
      {cf::kSizes, EncodeSizes(snapshot)},
      {cf::kTimeline, EncodeTimeline(snapshot.timeline)},
      {cf::kMoments, EncodeMoments(snapshot)},
      {cf::kNamed, EncodeNamed(snapshot)},
      {cf::kMappings, EncodeMappings(snapshot.mappings)},
      {cf::kMemory, EncodeMemory(snapshot.memory)},
      {cf::kProcesses, EncodeProcesses(snapshot)},
      {cf::kAttached, EncodeAttached(snapshot.tracker)},
      {cf::kAllocatorLive, EncodeAllocatorLive(snapshot.memory)},
      {cf::kUnseen, EncodeUnseen(snapshot.unseen)},
      {cf::kMappingMoments, EncodeMappingMoments(snapshot.mappings)},
      {cf::kRunningThreads, EncodeRunningThreads(snapshot)},
      {cf::kInspection, EncodeInspection(snapshot.inspection)},
  };
  for (const auto& [type, raw] : details) {
    if (raw.empty()) continue;
    AppendSection(out, type, raw);
    ++sections;
  }
  AppendEnd(out, sections);
  return out.bytes();
}

Result<void> WriteCaptureFile(const std::string& path, const CanonicalSnapshot& snapshot) {
  return WithinMemory(
      [&] { return WriteFileAtomically(path, EncodeCapture(snapshot), Readers::kOwner); });
}

}  // namespace memprof
