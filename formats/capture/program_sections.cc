#include "formats/capture/program_sections.h"

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_format.h"

namespace memprof {
namespace {

constexpr uint64_t kHasTimeline = 1;
constexpr uint64_t kHasMoments = 2;

}  // namespace

std::string EncodeProgram(const SnapshotProgram& program) {
  ByteWriter out;
  out.String(program.program);
  out.Varint(program.pid);
  out.Varint(program.command.size());
  for (const std::string& argument : program.command) out.String(argument);
  out.Signed(program.start_unix_ms);
  out.Varint(program.duration_ms);
  out.Varint(static_cast<uint64_t>(program.end_kind));
  out.Varint(program.end_code);
  out.Varint(program.peak_time_ms);
  out.Varint(program.peak_time_resolution_ms);
  out.Varint(program.rss_peak_bytes);
  if (program.run_id != 0) out.Fixed(program.run_id);
  return out.bytes();
}

bool DecodeProgram(std::string_view raw, SnapshotProgram& program) {
  ByteReader in(raw);
  program.program = in.String();
  program.pid = static_cast<uint32_t>(in.Varint());
  for (uint64_t n = in.CountOfItems(1, capture_format::kMaxTexts); n > 0 && !in.failed(); --n) {
    program.command.emplace_back(in.String());
  }
  program.start_unix_ms = in.Signed();
  program.duration_ms = in.Varint();
  const uint64_t end_kind = in.Varint();
  program.end_code = static_cast<uint32_t>(in.Varint());
  program.peak_time_ms = in.Varint();
  program.peak_time_resolution_ms = in.Varint();
  program.rss_peak_bytes = in.Varint();
  if (end_kind > static_cast<uint64_t>(EndKind::kCut)) return false;
  program.end_kind = static_cast<EndKind>(end_kind);
  if (in.remaining() >= sizeof program.run_id) program.run_id = in.Fixed<uint64_t>();
  return !in.failed();
}

std::string EncodeUnseen(const std::vector<Unseen>& unseen) {
  if (unseen.empty()) return {};
  ByteWriter out;
  out.Varint(unseen.size());
  for (const Unseen& one : unseen) out.Varint(static_cast<uint64_t>(one.kind));
  for (const Unseen& one : unseen) out.String(one.name);
  for (const Unseen& one : unseen) out.String(one.program);
  for (const Unseen& one : unseen) out.Varint(one.count);
  return out.bytes();
}

bool DecodeUnseen(std::string_view raw, std::vector<Unseen>& unseen) {
  ByteReader in(raw);
  std::vector<Unseen> read(in.CountOfItems(4, capture_format::kMaxTexts));
  for (Unseen& one : read) {
    const uint64_t kind = in.Varint();
    if (kind < static_cast<uint64_t>(Unseen::Kind::kAllocator) ||
        kind > static_cast<uint64_t>(Unseen::Kind::kChildren)) {
      return false;
    }
    one.kind = static_cast<Unseen::Kind>(kind);
  }
  for (Unseen& one : read) one.name = in.String();
  for (Unseen& one : read) one.program = in.String();
  for (Unseen& one : read) one.count = in.Varint();
  if (in.failed() || read.empty()) return false;
  unseen.clear();
  AddUnseen(unseen, read);
  return unseen == read;  // in order, each once
}

std::string EncodeSources(const std::vector<SnapshotSource>& sources) {
  if (sources.empty()) return {};
  ByteWriter out;
  out.Varint(sources.size());
  for (const SnapshotSource& source : sources) out.String(EncodeProgram(source.program));
  for (const SnapshotSource& source : sources) out.Varint(source.peak.bytes);
  for (const SnapshotSource& source : sources) out.Varint(source.peak.allocations);
  for (const SnapshotSource& source : sources) {
    out.Varint((source.has_timeline ? kHasTimeline : 0) | (source.has_moments ? kHasMoments : 0));
  }
  return out.bytes();
}

bool DecodeSources(std::string_view raw, std::vector<SnapshotSource>& sources) {
  ByteReader in(raw);
  const uint64_t count = in.CountOfItems(4);
  if (count == 0) return false;
  sources.resize(count);
  for (size_t i = 0; i < count; ++i) {
    SnapshotProgram& program = sources[i].program;
    if (!DecodeProgram(in.String(), program) || program.run_id == 0) return false;
    if (i > 0 && !SourceBefore(sources[i - 1], sources[i])) return false;
  }
  for (SnapshotSource& source : sources) source.peak.bytes = in.Varint();
  for (SnapshotSource& source : sources) source.peak.allocations = in.Varint();
  for (SnapshotSource& source : sources) {
    const uint64_t has = in.Varint();
    source.has_timeline = (has & kHasTimeline) != 0;
    source.has_moments = (has & kHasMoments) != 0;
  }
  return !in.failed();
}

}  // namespace memprof
