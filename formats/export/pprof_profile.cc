#include "formats/export/pprof_profile.h"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "core/base_name.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

// The header has no time and no name, so that the same profile gives the same bytes.
std::string Gzip(const std::string& bytes) {
  constexpr int kGzipHeader = 16;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

void PprofMessage::Number(uint32_t field, uint64_t value) {
  if (value == 0) return;
  out_.Varint(uint64_t{field} << 3);
  out_.Varint(value);
}

void PprofMessage::Bytes(uint32_t field, std::string_view bytes) {
  out_.Varint(uint64_t{field} << 3 | 2);
  out_.String(bytes);
}

void PprofMessage::Packed(uint32_t field, const std::vector<uint64_t>& values) {
  ByteWriter packed;
  for (const uint64_t value : values) packed.Varint(value);
  Bytes(field, packed.bytes());
}

uint64_t PprofProfile::String(const std::string& text) {
  const auto [place, is_new] = string_ids_.try_emplace(text, strings_.size());
  if (is_new) strings_.push_back(text);
  return place->second;
}

void PprofProfile::WriteValueType(uint32_t field, const std::string& type, const char* unit) {
  PprofMessage value_type;
  value_type.Number(1, String(type));
  value_type.Number(2, String(unit));
  out_.Add(field, value_type);
}

uint64_t PprofProfile::Mapping(const SnapshotModule& module) {
  const auto [place, is_new] =
      mapping_ids_.try_emplace({module.path, module.build_id}, mappings_.size() + 1);
  if (is_new) mappings_.push_back(place->first);
  return place->second;
}

uint64_t PprofProfile::Location(const Profile& profile, const std::vector<uint32_t>& frames) {
  const ProfileFrame& outer = profile.frames[frames.back()];
  LocationKey key;
  if (outer.module < profile.modules.size()) key.mapping = Mapping(profile.modules[outer.module]);
  key.offset = outer.offset;
  for (const uint32_t each : frames) {
    const ProfileFrame& frame = profile.frames[each];
    const FunctionKey function = {String(frame.function), String(frame.file)};
    const auto [place, is_new] = function_ids_.try_emplace(function, function_ids_.size() + 1);
    if (is_new) {
      PprofMessage message;
      message.Number(1, place->second);
      message.Number(2, function.name);
      message.Number(3, function.name);
      message.Number(4, function.file);
      out_.Add(5, message);
    }
    key.lines.emplace_back(place->second, frame.line);
  }
  const auto [place, is_new] = location_ids_.try_emplace(std::move(key), location_ids_.size() + 1);
  if (!is_new) return place->second;
  PprofMessage location;
  location.Number(1, place->second);
  location.Number(2, place->first.mapping);
  location.Number(3, place->first.offset);
  for (const auto& [function, line_number] : place->first.lines) {
    PprofMessage line;
    line.Number(1, function);
    line.Number(2, line_number);
    location.Add(4, line);
  }
  out_.Add(4, location);
  return place->second;
}

void PprofProfile::AddTimes(const Profile& profile, int sign) {
  // Readers take the first mapping for the program's file; some want the ids to ascend by one.
  for (const bool programs : {true, false}) {
    for (const SnapshotModule& module : profile.modules) {
      if ((BaseName(module.path) == profile.program.program) == programs) Mapping(module);
    }
  }
  for (const ProfileSite& site : profile.sites) {
    SampleKey key;
    std::vector<uint32_t> frames;  // of one location, innermost first
    for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
      const uint32_t frame = profile.nodes[node].frame;
      frames.push_back(frame);
      if (profile.frames[frame].inlined && profile.nodes[node].parent != 0) continue;
      key.locations.push_back(Location(profile, frames));
      frames.clear();
    }
    if (threads_) key.thread = String(profile.thread_names[site.thread_name]);
    const auto [place, is_new] = sample_ids_.try_emplace(key, samples_.size());
    if (is_new) samples_.emplace_back(std::move(key), std::vector<int64_t>(2 * figures_.size()));
    std::vector<int64_t>& values = samples_[place->second].second;
    for (size_t i = 0; i < figures_.size(); ++i) {
      const Count& count = site.*figures_[i].count;
      values[2 * i] += sign * static_cast<int64_t>(count.allocations);
      values[2 * i + 1] += sign * static_cast<int64_t>(count.bytes);
    }
  }
}

void PprofProfile::WriteMappings() {
  for (size_t i = 0; i < mappings_.size(); ++i) {
    PprofMessage mapping;
    mapping.Number(1, i + 1);
    mapping.Number(3, ~uint64_t{0});  // addresses are the files' own, so any may occur
    mapping.Number(5, String(mappings_[i].path));
    mapping.Number(6, String(mappings_[i].build_id));
    // Says that symbols are resolved already, so that readers don't look them up again.
    for (const uint32_t has : {7u, 8u, 9u, 10u}) mapping.Number(has, 1);
    out_.Add(3, mapping);
  }
}

std::string PprofProfile::Build(const PprofFacts& facts) {
  for (const PprofFigure& figure : figures_) {
    WriteValueType(1, std::string(figure.name) + "_objects", "count");
    WriteValueType(1, std::string(figure.name) + "_space", "bytes");
  }
  for (const auto& [key, values] : samples_) {
    const bool nothing =
        std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
    if (nothing) continue;
    PprofMessage sample;
    sample.Packed(1, key.locations);
    sample.Packed(2, {values.begin(), values.end()});
    if (key.thread != 0) {
      PprofMessage label;
      label.Number(1, String("thread"));
      label.Number(2, key.thread);
      sample.Add(3, label);
    }
    out_.Add(2, sample);
  }
  WriteMappings();
  out_.Number(9, static_cast<uint64_t>(facts.time_ns));
  out_.Number(10, facts.duration_ns);
  WriteValueType(11, "space", "bytes");
  out_.Number(12, facts.period);
  if (!facts.comment.empty()) out_.Packed(13, {String(facts.comment)});
  out_.Number(14, String(facts.default_type));
  for (const std::string& text : strings_) out_.Bytes(6, text);
  return Gzip(out_.bytes());
}

}  // namespace memprof
