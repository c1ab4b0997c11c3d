#include "formats/capture/process_sections.h"

#include <vector>

#include "core/snapshot/kept_processes.h"
#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"

namespace memprof {
namespace {

using Kind = SnapshotProcess::Kind;

// The head of a process: its kind, and its number of rows if it is kept apart.
constexpr uint64_t kUnknown = 0;
constexpr uint64_t kSummed = 1;
constexpr uint64_t kApart = 2;  // plus the number of rows

std::vector<Count ProcessRow::*> RowFigures(bool temporary) {
  std::vector<Count ProcessRow::*> figures = {&ProcessRow::peak, &ProcessRow::leaked,
                                              &ProcessRow::total};
  if (temporary) figures.push_back(&ProcessRow::temporary);
  return figures;
}

// Visits the rows of all processes, one process after the other.
template <typename Processes, typename Visit>
void ForEachRow(Processes& processes, Visit visit) {
  for (auto& process : processes) {
    for (auto& row : process.rows) visit(row);
  }
}

}  // namespace

std::string EncodeProcesses(const Snapshot& snapshot) {
  if (snapshot.processes.empty()) return {};
  const bool temporary = snapshot.tracker.temporary_threshold != 0;
  ByteWriter out;
  out.Varint(temporary);
  out.Varint(snapshot.processes.size());
  for (const SnapshotProcess& process : snapshot.processes) {
    out.Varint(process.kind == Kind::kApart    ? kApart + process.rows.size()
               : process.kind == Kind::kSummed ? kSummed
                                               : kUnknown);
  }
  for (const SnapshotProcess& process : snapshot.processes) {
    uint32_t next = 0;
    for (const ProcessRow& row : process.rows) {
      out.Varint(row.site - next);
      next = row.site + 1;
    }
  }
  for (const auto figure : RowFigures(temporary)) {
    ForEachRow(snapshot.processes, [&](const ProcessRow& row) { out.Varint((row.*figure).bytes); });
    ForEachRow(snapshot.processes,
               [&](const ProcessRow& row) { out.Varint((row.*figure).allocations); });
  }
  return out.bytes();
}

bool DecodeProcesses(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  const uint64_t temporary = in.Varint();
  const uint64_t count = in.CountOfItems(1);
  if (temporary > 1 || count == 0 || count != snapshot.sources.size()) return false;
  const std::vector<Count ProcessRow::*> figures = RowFigures(temporary != 0);
  const size_t row_bytes = 1 + 2 * figures.size();  // at least
  std::vector<SnapshotProcess>& processes = snapshot.processes;
  processes.resize(count);
  std::vector<uint64_t> sizes(count);
  uint64_t apart = 0;
  uint64_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t head = in.Varint();
    processes[i].kind = head == kUnknown  ? Kind::kUnknown
                        : head == kSummed ? Kind::kSummed
                                          : Kind::kApart;
    if (head < kApart) continue;
    sizes[i] = head - kApart;
    if (sizes[i] > snapshot.sites.size()) return false;
    ++apart;
    rows += sizes[i];
  }
  // Checks the limits of writers and the number of bytes before anything is allocated.
  if (apart > kMostProcesses && rows > kMostProcessRows) return false;
  if (rows > in.remaining() / row_bytes) return false;
  for (size_t i = 0; i < count; ++i) {
    processes[i].rows.resize(sizes[i]);
    uint64_t next = 0;
    for (ProcessRow& row : processes[i].rows) {
      const uint64_t left_out = in.Varint();
      if (left_out >= snapshot.sites.size() - next) return false;
      row.site = static_cast<uint32_t>(next + left_out);
      next = uint64_t{row.site} + 1;
    }
  }
  for (const auto figure : figures) {
    ForEachRow(processes, [&](ProcessRow& row) { (row.*figure).bytes = in.Varint(); });
    ForEachRow(processes, [&](ProcessRow& row) { (row.*figure).allocations = in.Varint(); });
  }
  if (snapshot.tracker.temporary_threshold == 0) {
    ForEachRow(processes, [](ProcessRow& row) { row.temporary = {}; });
  }
  return !in.failed() && FitSites(processes, snapshot.sites);
}

}  // namespace memprof
