#include "formats/capture/inspection_section.h"

#include <algorithm>
#include <vector>

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_format.h"

namespace memprof {
namespace {

constexpr auto kHeldFigures = {&HeldFigures::lost_directly, &HeldFigures::lost_indirectly,
                               &HeldFigures::reachable,     &HeldFigures::inherited,
                               &HeldFigures::unknown,       &HeldFigures::in_cycles};

void WriteStrings(const std::vector<std::string>& strings, ByteWriter& out) {
  out.Varint(strings.size());
  for (const std::string& string : strings) out.String(string);
}

void ReadStrings(ByteReader& in, std::vector<std::string>& strings) {
  strings.resize(in.CountOfItems(1, capture_format::kMaxTexts));
  for (std::string& string : strings) string = in.String();
}

// The parents of a tree whose first entry is above the others, and implied, as distances back.
template <typename Entry>
void WriteParents(const std::vector<Entry>& entries, ByteWriter& out) {
  out.Varint(entries.size() - 1);
  for (size_t i = 1; i < entries.size(); ++i) out.Varint(i - entries[i].parent);
}

template <typename Entry>
bool ReadParents(ByteReader& in, size_t bytes_each, std::vector<Entry>& entries) {
  entries.resize(in.CountOfItems(bytes_each) + 1);
  std::vector<uint32_t> depths(entries.size());
  for (size_t i = 1; i < entries.size(); ++i) {
    const uint64_t back = in.Varint();
    if (back == 0 || back > i) return false;
    entries[i].parent = static_cast<uint32_t>(i - back);
    depths[i] = depths[i - back] + 1;
    if (depths[i] > kLongestPath) return false;
  }
  return !in.failed();
}

}  // namespace

std::string EncodeInspection(const SnapshotInspection& inspection) {
  ByteWriter out;
  if (inspection.looks == 0) return out.bytes();
  for (const uint64_t value : {uint64_t{inspection.looks}, inspection.time_ms,
                               inspection.longest_pause_us, inspection.took_ms}) {
    out.Varint(value);
  }
  WriteStrings(inspection.notes, out);
  out.Varint(inspection.rows.size());
  uint64_t node = 0;
  for (const InspectedRow& row : inspection.rows) out.Delta(row.node, node);
  for (const auto figure : kHeldFigures) {
    for (const InspectedRow& row : inspection.rows) out.Varint((row.figures.*figure).bytes);
    for (const InspectedRow& row : inspection.rows) out.Varint((row.figures.*figure).allocations);
  }
  for (const InspectedRow& row : inspection.rows) out.Varint(row.alone_bytes);
  for (const InspectedRow& row : inspection.rows) out.Varint(row.free_bytes);
  WriteStrings(inspection.roots, out);
  const std::vector<HoldingPath>& paths = inspection.paths;
  WriteParents(paths, out);
  for (size_t i = 1; i < paths.size(); ++i)
    out.Varint(2 * uint64_t{paths[i].what} + paths[i].is_root);
  for (size_t i = 1; i < paths.size(); ++i) out.Varint(paths[i].own.bytes);
  for (size_t i = 1; i < paths.size(); ++i) out.Varint(paths[i].own.allocations);
  const std::vector<RetainedEntry>& retained = inspection.retained;
  WriteParents(retained, out);
  for (size_t i = 1; i < retained.size(); ++i) out.Varint(retained[i].row);
  for (size_t i = 1; i < retained.size(); ++i) out.Varint(retained[i].own_bytes);
  if (!inspection.types.empty()) {
    WriteStrings(inspection.types, out);
    for (const InspectedRow& row : inspection.rows) out.Varint(row.type);
  }
  return out.bytes();
}

bool DecodeInspection(std::string_view raw, size_t nodes, SnapshotInspection& inspection) {
  ByteReader in(raw);
  const uint64_t looks = in.Varint();
  if (looks == 0 || looks > ~uint32_t{0}) return false;
  inspection.looks = static_cast<uint32_t>(looks);
  for (uint64_t* value : {&inspection.time_ms, &inspection.longest_pause_us, &inspection.took_ms}) {
    *value = in.Varint();
  }
  ReadStrings(in, inspection.notes);
  inspection.rows.resize(in.CountOfItems(3 + 2 * kHeldFigures.size()));
  uint64_t node = 0;
  for (InspectedRow& row : inspection.rows) {
    if (in.Delta(node) >= nodes) return false;
    row.node = static_cast<uint32_t>(node);
  }
  for (const auto figure : kHeldFigures) {
    for (InspectedRow& row : inspection.rows) (row.figures.*figure).bytes = in.Varint();
    for (InspectedRow& row : inspection.rows) (row.figures.*figure).allocations = in.Varint();
  }
  for (InspectedRow& row : inspection.rows) row.alone_bytes = in.Varint();
  for (InspectedRow& row : inspection.rows) row.free_bytes = in.Varint();
  ReadStrings(in, inspection.roots);
  std::vector<HoldingPath>& paths = inspection.paths;
  if (!ReadParents(in, 4, paths)) return false;
  for (size_t i = 1; i < paths.size(); ++i) {
    const uint64_t word = in.Varint();
    paths[i].is_root = word % 2 != 0;
    if (word / 2 >= (paths[i].is_root ? inspection.roots.size() : inspection.rows.size()))
      return false;
    paths[i].what = static_cast<uint32_t>(word / 2);
  }
  for (size_t i = 1; i < paths.size(); ++i) paths[i].own.bytes = in.Varint();
  for (size_t i = 1; i < paths.size(); ++i) paths[i].own.allocations = in.Varint();
  std::vector<RetainedEntry>& retained = inspection.retained;
  if (!ReadParents(in, 3, retained)) return false;
  for (size_t i = 1; i < retained.size(); ++i) {
    const uint64_t row = in.Varint();
    if (row >= inspection.rows.size()) return false;
    retained[i].row = static_cast<uint32_t>(row);
  }
  for (size_t i = 1; i < retained.size(); ++i) retained[i].own_bytes = in.Varint();
  if (!in.empty()) {  // there are types
    ReadStrings(in, inspection.types);
    for (InspectedRow& row : inspection.rows) {
      const uint64_t type = in.Varint();
      if (type > inspection.types.size()) return false;
      row.type = static_cast<uint32_t>(type);
    }
  }
  Count held;
  for (const HoldingPath& path : paths) held += path.own;
  return !in.failed() && held == SumOf(inspection).reachable;
}

}  // namespace memprof
