#include "formats/capture/capture_dump.h"

#include <fmt/format.h>

#include <iterator>

#include "core/printable.h"
#include "core/snapshot/sampling.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_sections.h"

namespace memprof {
namespace {

namespace cf = capture_format;

void DumpErrors(const Snapshot& snapshot, const SnapshotSite& site, std::string& text) {
  fmt::format_to(std::back_inserter(text), " {}", site.size_class);
  const FigureVariances variances = VariancesOf(site, snapshot.tracker.sample_bytes);
  for (const Variance& variance : {variances.peak, variances.leaked, variances.total}) {
    const Count error = StandardError(variance);
    fmt::format_to(std::back_inserter(text), " ±{}/{}", error.bytes, error.allocations);
  }
}

void DumpSizes(const SizeHistogram& sizes, std::string& text) {
  for (const SizeShare& share : sizes) {
    fmt::format_to(std::back_inserter(text), " {}:{}/{}", share.size_class, share.count.bytes,
                   share.count.allocations);
  }
}

void DumpChanges(const std::vector<SnapshotSite>& sites, LiveHistory SnapshotSite::*history,
                 std::string& text) {
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < sites.size(); ++i) {
    if ((sites[i].*history).empty()) continue;
    fmt::format_to(out, "  {:>5}", i);
    for (const LiveChange& change : sites[i].*history) {
      fmt::format_to(out, " {}:{}/{}", change.moment, change.live.bytes, change.live.allocations);
    }
    text += '\n';
  }
}

// Before the sites, as DumpHistory.
void DumpMappings(const SnapshotMappings& mappings, std::string& text) {
  auto out = std::back_inserter(text);
  if (!mappings.followed && mappings.rows.empty()) return;
  fmt::format_to(out, "\nmappings, {} lost: node thread kind peak leaked total (bytes/mappings)\n",
                 mappings.lost_events);
  for (const SnapshotMapping& m : mappings.rows) {
    fmt::format_to(out, "  {:>5} {:>3} {}{} {}/{} {}/{} {}/{} {}\n", m.node, m.thread_name,
                   NameOf(m.kind), m.reserved ? ", reserved" : "", m.peak.bytes, m.peak.allocations,
                   m.leaked.bytes, m.leaked.allocations, m.total.bytes, m.total.allocations,
                   Printable(m.file));
    for (const LiveChange& change : m.history) {
      fmt::format_to(out, "        {}:{}/{}\n", change.moment, change.live.bytes,
                     change.live.allocations);
    }
  }
}

// Before the sites, as DumpHistory.
void DumpMemory(const MemoryRecord& memory, std::string& text) {
  auto out = std::back_inserter(text);
  for (const MemorySample& sample : memory.samples) {
    fmt::format_to(out, "\nmemory at {} ms, RSS {}, {} at {} ms:", sample.time_ms, sample.rss_bytes,
                   NameOf(sample.allocator.provider), sample.allocator.time_ms);
    for (const MemoryPart& part : PartsOf(sample)) {
      fmt::format_to(out, " {} {}", part.name, part.bytes);
    }
    text += '\n';
  }
}

// Before the sites, whose lines are the last.
void DumpHistory(const Snapshot& snapshot, std::string& text) {
  auto out = std::back_inserter(text);
  if (!snapshot.timeline.points.empty()) {
    fmt::format_to(out, "\ntimeline, {} ms: ms heap RSS\n", snapshot.timeline.interval_ms);
  }
  for (const TimelinePoint& point : snapshot.timeline.points) {
    fmt::format_to(out, "  {:>8} {} {}\n", point.time_ms, point.heap_bytes,
                   point.rss_bytes ? std::to_string(*point.rss_bytes) : "-");
  }
  if (!snapshot.moments.at.empty()) {
    fmt::format_to(out, "\nmoments, {} ms: ms\n", snapshot.moments.interval_ms);
  }
  for (size_t i = 0; i < snapshot.moments.at.size(); ++i) {
    const Moment& moment = snapshot.moments.at[i];
    fmt::format_to(out, "  {:>5} {}{}\n", i, moment.time_ms, moment.inexact ? " inexact" : "");
  }
  if (!snapshot.moments.at.empty()) {
    text += "\nhistory: site moment:bytes/allocations…\n";
    DumpChanges(snapshot.sites, &SnapshotSite::history, text);
  }
  if (snapshot.named.empty()) return;
  fmt::format_to(out, "\nnamed snapshots: ms name ({} left out)\n", snapshot.named.left_out);
  for (size_t i = 0; i < snapshot.named.taken.size(); ++i) {
    const NamedMoment& named = snapshot.named.taken[i];
    fmt::format_to(out, "  {:>5} {} {}{}\n", i, named.time_ms, Printable(named.name),
                   named.inexact ? " (inexact)" : "");
  }
  text += "\nlive at them: site snapshot:bytes/allocations…\n";
  DumpChanges(snapshot.sites, &SnapshotSite::named, text);
}

void DumpSources(const std::vector<SnapshotSource>& sources, std::string& text) {
  if (sources.empty()) return;
  text += "\nsources of the merge: run pid start duration peak (bytes/allocations) program\n";
  for (const SnapshotSource& source : sources) {
    const SnapshotProgram& program = source.program;
    fmt::format_to(std::back_inserter(text), "  {:016x} {} {} {} {}/{} {}\n", program.run_id,
                   program.pid, program.start_unix_ms, program.duration_ms, source.peak.bytes,
                   source.peak.allocations, Printable(program.program));
  }
}

// Before the sites, as DumpHistory.
void DumpProcesses(const Snapshot& snapshot, std::string& text) {
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < snapshot.processes.size(); ++i) {
    const SnapshotProcess& process = snapshot.processes[i];
    fmt::format_to(out, "\nprocess of source {}", i);
    if (process.kind != SnapshotProcess::Kind::kApart) {
      text +=
          process.kind == SnapshotProcess::Kind::kSummed ? ": with the others\n" : ": not known\n";
      continue;
    }
    text += ": site peak leaked total temporary (bytes/allocations)\n";
    for (const ProcessRow& row : process.rows) {
      fmt::format_to(out, "  {:>5} {}/{} {}/{} {}/{} {}/{}\n", row.site, row.peak.bytes,
                     row.peak.allocations, row.leaked.bytes, row.leaked.allocations,
                     row.total.bytes, row.total.allocations, row.temporary.bytes,
                     row.temporary.allocations);
    }
  }
}

// Before the sites, as DumpHistory.
void DumpInspection(const SnapshotInspection& inspection, std::string& text) {
  if (inspection.looks == 0) return;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\ninspection at {} ms: looks {}, longest pause {} us, {} ms\n",
                 inspection.time_ms, inspection.looks, inspection.longest_pause_us,
                 inspection.took_ms);
  for (const std::string& note : inspection.notes) text += "  " + Printable(note) + "\n";
  text +=
      "inspected: node, lost directly, indirectly, reachable, inherited, unknown, in cycles "
      "(bytes/blocks), type\n";
  for (size_t i = 0; i < inspection.rows.size(); ++i) {
    const HeldFigures& f = inspection.rows[i].figures;
    fmt::format_to(out, "  {:>5} {:>5}", i, inspection.rows[i].node);
    for (const Count& count :
         {f.lost_directly, f.lost_indirectly, f.reachable, f.inherited, f.unknown, f.in_cycles}) {
      fmt::format_to(out, " {}/{}", count.bytes, count.allocations);
    }
    if (const auto type = inspection.TypeOf(inspection.rows[i]); !type.empty()) {
      fmt::format_to(out, " {}", Printable(type));
    }
    text += '\n';
  }
  text += "held by: parent, root or row, held (bytes/blocks)\n";
  for (size_t i = 1; i < inspection.paths.size(); ++i) {
    const HoldingPath& path = inspection.paths[i];
    const std::string what =
        path.is_root ? Printable(inspection.roots[path.what]) : std::to_string(path.what);
    fmt::format_to(out, "  {:>5} {:>5} {} {}/{}\n", i, path.parent, what, path.own.bytes,
                   path.own.allocations);
  }
  text += "retained: parent, row, bytes\n";
  for (size_t i = 1; i < inspection.retained.size(); ++i) {
    const RetainedEntry& entry = inspection.retained[i];
    fmt::format_to(out, "  {:>5} {:>5} {:>5} {}\n", i, entry.parent, entry.row, entry.own_bytes);
  }
}

void DumpContent(const Snapshot& snapshot, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nmodules\n");
  for (size_t i = 0; i < snapshot.modules.size(); ++i) {
    fmt::format_to(out, "  {:>5} {} {}\n", i, Printable(snapshot.modules[i].build_id),
                   Printable(snapshot.modules[i].path));
  }
  fmt::format_to(out, "\nframes: module offset\n");
  for (size_t i = 0; i < snapshot.frames.size(); ++i) {
    const SnapshotFrame& frame = snapshot.frames[i];
    const std::string module = frame.module == kNoModule ? "-" : std::to_string(frame.module);
    if (IsPython(frame)) {
      fmt::format_to(out, "  {:>5} python {}:{}\n", i, PythonFunctionOf(frame.offset),
                     PythonLineOf(frame.offset));
      continue;
    }
    fmt::format_to(out, "  {:>5} {:>3} {:#x}\n", i, module, frame.offset);
  }
  if (!snapshot.python.empty()) fmt::format_to(out, "\npython: first line, function, file\n");
  for (size_t i = 0; i < snapshot.python.size(); ++i) {
    const SnapshotPythonFunction& function = snapshot.python[i];
    fmt::format_to(out, "  {:>5} {:>5} {} {}\n", i, function.first_line,
                   Printable(function.function), Printable(function.file));
  }
  fmt::format_to(out, "\nnodes: parent frame\n");
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    fmt::format_to(out, "  {:>5} {:>5} {:>5}\n", i, snapshot.nodes[i].parent,
                   snapshot.nodes[i].frame);
  }
  fmt::format_to(out, "\nthread names\n");
  for (size_t i = 0; i < snapshot.thread_names.size(); ++i) {
    fmt::format_to(out, "  {:>5} {}\n", i, Printable(snapshot.thread_names[i]));
  }
  if (snapshot.tracker.sample_bytes != 0) {
    fmt::format_to(out, "\nsampled: {}\n", SamplingText(snapshot.tracker.sample_bytes));
  }
  if (const uint32_t threshold = snapshot.tracker.temporary_threshold; threshold != 0) {
    fmt::format_to(out, "\ntemporary: fewer than {} allocations between\n", threshold);
  }
  DumpSources(snapshot.sources, text);
  for (const std::string& line : UnseenLines(snapshot.unseen))
    text += "\nunseen: " + Printable(line) + "\n";
  DumpMappings(snapshot.mappings, text);
  DumpMemory(snapshot.memory, text);
  DumpInspection(snapshot.inspection, text);
  DumpHistory(snapshot, text);
  DumpProcesses(snapshot, text);
  fmt::format_to(out,
                 "\nsites: node thread kind peak leaked total temporary (bytes/allocations){}, "
                 "sizes (class:bytes/allocations)\n",
                 snapshot.tracker.sample_bytes != 0 ? ", size class, standard errors" : "");
  for (size_t i = 0; i < snapshot.sites.size(); ++i) {
    const SnapshotSite& s = snapshot.sites[i];
    fmt::format_to(out, "  {:>5} {:>5} {:>3} {} {}/{} {}/{} {}/{} {}/{}", i, s.node, s.thread_name,
                   NameOf(s.kind), s.peak.bytes, s.peak.allocations, s.leaked.bytes,
                   s.leaked.allocations, s.total.bytes, s.total.allocations, s.temporary.bytes,
                   s.temporary.allocations);
    if (snapshot.tracker.sample_bytes != 0) DumpErrors(snapshot, s, text);
    DumpSizes(s.sizes, text);
    if (s.of_running_threads) text += " (leaked: of threads that still ran at the end)";
    text += '\n';
  }
  fmt::format_to(out, "\nsizes of other sites:");
  DumpSizes(snapshot.other_sizes, text);
  text += '\n';
}

void DumpSymbols(const StoredSymbols& symbols, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nsymbols: frame function file:line, innermost inlined function first\n");
  for (size_t i = 0; i < symbols.chains.size(); ++i) {
    for (const SourceFrame& frame : symbols.chains[i]) {
      fmt::format_to(out, "  {:>5} {}{} {}:{}\n", i, frame.inlined ? "> " : "",
                     Printable(frame.function), Printable(frame.file), frame.line);
    }
  }
  for (const std::string& note : symbols.notes) {
    if (!note.empty()) fmt::format_to(out, "  note  {}\n", Printable(note));
  }
}

}  // namespace

Result<std::string> DumpCapture(std::string_view bytes) {
  if (!bytes.starts_with(std::string_view(cf::kMagic, sizeof cf::kMagic)) ||
      bytes.size() < cf::kFileHeaderBytes) {
    return Fail(ErrorKind::kUnreadable, "not a capture of memprof");
  }
  std::string text = fmt::format("capture of {} bytes\n\n{:>8} {:<14} {:>10} {:>10}  {}\n",
                                 bytes.size(), "offset", "section", "stored", "content", "state");
  auto out = std::back_inserter(text);
  const CaptureSections split = SplitSections(bytes);
  for (const CaptureSection& section : split.sections) {
    fmt::format_to(out, "{:>8} {:<14} {:>10} {:>10}  {}{}\n", section.file_offset,
                   SectionName(section.type), section.stored_bytes, section.raw_bytes,
                   (section.flags & cf::kFlagZstd) != 0 ? "zstd, " : "",
                   section.damage.empty() ? "ok" : section.damage);
  }
  fmt::format_to(out, "{:>8} {}\n", "", split.complete ? "end: ok" : "end: missing");
  const auto content = DecodeCapture(bytes);
  if (!content) {
    fmt::format_to(out, "\nno content: {}\n", content.error().message);
    return text;
  }
  DumpContent(content->snapshot, text);
  if (!content->symbols.empty()) DumpSymbols(content->symbols, text);
  return text;
}

}  // namespace memprof
