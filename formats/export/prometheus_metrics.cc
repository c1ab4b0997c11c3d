#include "formats/export/prometheus_metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace memprof {
namespace {

// A label's value is UTF-8. Names may be any bytes, so those that aren't ASCII are left out.
std::string LabelValue(const std::string& text) {
  std::string value;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == '"') {
      value += '\\';
      value += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      value += c;
    } else {
      value += '_';
    }
  }
  return value;
}

struct Metric {
  const char* name;
  const char* type;
  const char* help;
  std::optional<uint64_t> value;  // unset: not known, and left out
  // the value is in milliseconds; written in seconds, Prometheus' unit of time
  bool milliseconds = false;
};

// The figures' own time, not the clock's: the same capture gives the same text.
std::optional<uint64_t> WrittenUnixMs(const SnapshotProgram& program) {
  if (program.start_unix_ms <= 0) return std::nullopt;
  return static_cast<uint64_t>(program.start_unix_ms) + program.duration_ms;
}

std::vector<Metric> MetricsOf(const Snapshot& snapshot) {
  const SnapshotProgram& program = snapshot.program;
  const SnapshotTracker& tracker = snapshot.tracker;
  const Count live = SumLeaked(snapshot);
  const Count peak = SumPeak(snapshot);
  const Count total = SumTotal(snapshot);
  const auto known = [](uint64_t value) {
    return value == 0 ? std::nullopt : std::optional<uint64_t>(value);
  };
  std::optional<uint64_t> rss;
  if (!snapshot.timeline.points.empty()) rss = snapshot.timeline.points.back().rss_bytes;
  const bool running = IsUnended(program.end_kind);
  // After the end the process has no live memory.
  const uint64_t live_bytes = running ? live.bytes : 0;
  const uint64_t live_blocks = running ? live.allocations : 0;
  return {
      {"memprof_running", "gauge", "Whether the program ran when this was written.",
       running ? 1 : 0},
      {"memprof_heap_live_bytes", "gauge", "Bytes that the program has allocated and not freed.",
       live_bytes},
      {"memprof_heap_live_blocks", "gauge", "Blocks that the program has allocated and not freed.",
       live_blocks},
      {"memprof_heap_peak_bytes", "gauge", "The most bytes that were ever live at once.",
       peak.bytes},
      {"memprof_resident_bytes", "gauge", "The process's resident memory, the tracker's included.",
       rss},
      {"memprof_resident_peak_bytes", "gauge", "The process's highest resident memory.",
       known(program.rss_peak_bytes)},
      {"memprof_allocations_total", "counter", "Allocations that were counted.", total.allocations},
      {"memprof_allocated_bytes_total", "counter", "Bytes that were ever allocated.", total.bytes},
      {"memprof_frees_total", "counter", "Frees that were counted.",
       total.allocations - live.allocations},
      {"memprof_events_dropped_total", "counter", "Events that could not be counted.",
       tracker.dropped_events},
      {"memprof_tracker_bytes", "gauge", "Resident memory of the tracker in the process.",
       tracker.bytes},
      {"memprof_sample_bytes", "gauge",
       "Mean bytes between samples; 0: every event is counted, and no figure is an estimate.",
       tracker.sample_bytes},
      {"memprof_written_timestamp_seconds", "gauge",
       "Unix time when this was written: an old one says that the job was killed.",
       WrittenUnixMs(program), true},
      {"memprof_duration_seconds", "gauge", "How long the program had run when this was written.",
       program.duration_ms, true},
  };
}

std::string LabelsOf(const SnapshotProgram& program) {
  return fmt::format("{{program=\"{}\",pid=\"{}\"}}", LabelValue(program.program), program.pid);
}

}  // namespace

std::string MetricsText(const Snapshot& snapshot) {
  const Snapshot* const only[] = {&snapshot};
  return MetricsText(only);
}

std::string MetricsText(std::span<const Snapshot* const> snapshots) {
  std::vector<std::vector<Metric>> processes;
  std::vector<std::string> labels;
  for (const Snapshot* snapshot : snapshots) {
    processes.push_back(MetricsOf(*snapshot));
    labels.push_back(LabelsOf(snapshot->program));
  }
  std::string text;
  for (size_t i = 0; !processes.empty() && i < processes[0].size(); ++i) {
    bool described = false;
    for (size_t k = 0; k < processes.size(); ++k) {
      const Metric& metric = processes[k][i];
      if (!metric.value) continue;
      if (!std::exchange(described, true)) {
        fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name,
                       metric.help, metric.type);
      }
      const std::string value =
          metric.milliseconds ? fmt::format("{}.{:03}", *metric.value / 1000, *metric.value % 1000)
                              : fmt::format("{}", *metric.value);
      fmt::format_to(std::back_inserter(text), "{}{} {}\n", metric.name, labels[k], value);
    }
  }
  return text;
}

}  // namespace memprof
