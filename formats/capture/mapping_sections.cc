#include "formats/capture/mapping_sections.h"

#include <algorithm>

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_format.h"

namespace memprof {
namespace {

constexpr auto kFigures = {&SnapshotMapping::peak, &SnapshotMapping::leaked,
                           &SnapshotMapping::total};
constexpr auto kSampleFigures = {&MemorySample::rss_bytes,     &MemorySample::anonymous_bytes,
                                 &MemorySample::mapped_bytes,  &MemorySample::mapped_file_bytes,
                                 &MemorySample::file_bytes,    &MemorySample::stack_bytes,
                                 &MemorySample::tracker_bytes, &MemorySample::live_bytes};
constexpr auto kAllocatorFigures = {&AllocatorSample::allocated_bytes,
                                    &AllocatorSample::cached_bytes, &AllocatorSample::free_bytes,
                                    &AllocatorSample::metadata_bytes};

// 0 means "not known".
void WriteKnown(const std::optional<uint64_t>& bytes, ByteWriter& out) {
  out.Varint(bytes ? *bytes + 1 : 0);
}

void ReadKnown(ByteReader& in, std::optional<uint64_t>& bytes) {
  const uint64_t plus_one = in.Varint();
  if (plus_one != 0) bytes = plus_one - 1;
}

void WriteAllocator(const AllocatorSample& said, ByteWriter& out) {
  out.Varint(static_cast<uint32_t>(said.provider));
  if (said.provider == AllocatorProvider::kNone) return;
  out.Varint(said.time_ms);
  for (const auto figure : kAllocatorFigures) {
    WriteKnown(said.*figure, out);
  }
}

bool ReadAllocator(ByteReader& in, AllocatorSample& said) {
  const uint64_t provider = in.Varint();
  if (provider >= kAllocatorProviders) return false;
  said.provider = static_cast<AllocatorProvider>(provider);
  if (said.provider == AllocatorProvider::kNone) return true;
  said.time_ms = in.Varint();
  for (const auto figure : kAllocatorFigures) {
    ReadKnown(in, said.*figure);
  }
  return true;
}

// The allocator's figures in the samples, and the last ones.
template <typename Memory>
auto AllAnswers(Memory& memory) {
  std::vector<decltype(&memory.last_said)> answers;
  for (auto& sample : memory.samples) answers.push_back(&sample.allocator);
  answers.push_back(&memory.last_said);
  return answers;
}

}  // namespace

std::string EncodeMappings(const SnapshotMappings& mappings) {
  if (mappings == SnapshotMappings{}) return {};
  std::vector<std::string> files;
  for (const SnapshotMapping& row : mappings.rows) {
    if (!row.file.empty()) files.push_back(row.file);
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  ByteWriter out;
  out.Varint(mappings.followed);
  out.Varint(mappings.lost_events);
  out.Varint(mappings.unattributed_bytes);
  out.Varint(files.size());
  for (const std::string& file : files) out.String(file);
  out.Varint(mappings.rows.size());
  uint64_t node = 0;
  for (const SnapshotMapping& row : mappings.rows) out.Delta(row.node, node);
  for (const SnapshotMapping& row : mappings.rows) out.Varint(row.thread_name);
  for (const SnapshotMapping& row : mappings.rows) {
    const auto file = std::lower_bound(files.begin(), files.end(), row.file) - files.begin();
    out.Varint(Pack(MappingWhat{row.kind, row.reserved,
                                row.file.empty() ? 0 : static_cast<uint32_t>(file) + 1}));
  }
  for (const auto figure : kFigures) {
    for (const SnapshotMapping& row : mappings.rows) out.Varint((row.*figure).bytes);
    for (const SnapshotMapping& row : mappings.rows) out.Varint((row.*figure).allocations);
  }
  return out.bytes();
}

bool DecodeMappings(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  SnapshotMappings& mappings = snapshot.mappings;
  mappings.followed = in.Varint() != 0;
  mappings.lost_events = in.Varint();
  mappings.unattributed_bytes = in.Varint();
  std::vector<std::string> files(in.CountOfItems(1, capture_format::kMaxTexts));
  for (std::string& file : files) file = in.String();
  mappings.rows.resize(in.CountOfItems(9));
  uint64_t node = 0;
  for (SnapshotMapping& row : mappings.rows) {
    if (in.Delta(node) >= snapshot.nodes.size()) return false;
    row.node = static_cast<uint32_t>(node);
  }
  for (SnapshotMapping& row : mappings.rows) {
    const uint64_t name = in.Varint();
    if (name >= snapshot.thread_names.size()) return false;
    row.thread_name = static_cast<uint32_t>(name);
  }
  for (SnapshotMapping& row : mappings.rows) {
    const uint64_t word = in.Varint();
    if (word >> 3 > files.size()) return false;
    const MappingWhat what = UnpackMappingWhat(static_cast<uint32_t>(word));
    row.kind = what.kind;
    row.reserved = what.reserved;
    if (what.file_plus_one != 0) row.file = files[what.file_plus_one - 1];
  }
  for (const auto figure : kFigures) {
    for (SnapshotMapping& row : mappings.rows) (row.*figure).bytes = in.Varint();
    for (SnapshotMapping& row : mappings.rows) (row.*figure).allocations = in.Varint();
  }
  return !in.failed();
}

std::string EncodeMemory(const MemoryRecord& memory) {
  if (memory.samples.empty() && memory.last_said.provider == AllocatorProvider::kNone) return {};
  ByteWriter out;
  out.Varint(memory.samples.size());
  uint64_t time = 0;
  for (const MemorySample& sample : memory.samples) out.Delta(sample.time_ms, time);
  for (const auto figure : kSampleFigures) {
    uint64_t before = 0;
    for (const MemorySample& sample : memory.samples) out.Delta(sample.*figure, before);
  }
  for (const MemorySample& sample : memory.samples) WriteAllocator(sample.allocator, out);
  WriteAllocator(memory.last_said, out);
  return out.bytes();
}

bool DecodeMemory(std::string_view raw, MemoryRecord& memory) {
  ByteReader in(raw);
  const uint64_t count = in.CountOfItems(10);
  if (count > kMaxMemorySamples) return false;
  memory.samples.resize(count);
  uint64_t time = 0;
  for (MemorySample& sample : memory.samples) {
    const uint64_t before = time;
    sample.time_ms = in.Delta(time);
    if (time < before) return false;
  }
  for (const auto figure : kSampleFigures) {
    uint64_t before = 0;
    for (MemorySample& sample : memory.samples) sample.*figure = in.Delta(before);
  }
  for (MemorySample& sample : memory.samples) {
    if (!ReadAllocator(in, sample.allocator)) return false;
  }
  if (!ReadAllocator(in, memory.last_said)) return false;
  return !in.failed();
}

std::string EncodeAllocatorLive(const MemoryRecord& memory) {
  const auto answers = AllAnswers(memory);
  if (std::none_of(answers.begin(), answers.end(),
                   [](const auto* said) { return said->live_bytes.has_value(); })) {
    return {};
  }
  ByteWriter out;
  out.Varint(answers.size());
  for (const AllocatorSample* said : answers) WriteKnown(said->live_bytes, out);
  return out.bytes();
}

bool DecodeAllocatorLive(std::string_view raw, MemoryRecord& memory) {
  ByteReader in(raw);
  const auto answers = AllAnswers(memory);
  if (in.Varint() != answers.size()) return false;
  for (AllocatorSample* said : answers) {
    ReadKnown(in, said->live_bytes);
    if (said->live_bytes && said->provider == AllocatorProvider::kNone) return false;
  }
  return !in.failed();
}

void ForgetAllocatorLive(MemoryRecord& memory) {
  for (AllocatorSample* said : AllAnswers(memory)) said->live_bytes.reset();
}

}  // namespace memprof
