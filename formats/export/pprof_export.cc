// pprof's profile.proto, compressed by gzip, for `pprof` and `go tool pprof`. A sample has objects and
// bytes of Go's two figures, in Go's order, so that what reads a Go program's heap profile reads this
// one; then those of the figures that only memprof has.
//
// Source: https://github.com/google/pprof/blob/main/proto/profile.proto, which defines the field
// numbers. A Location is one return address with all functions that were inlined there.

#include <zlib.h>

#include <algorithm>
#include <map>
#include <new>
#include <vector>

#include "core/base_name.h"
#include "core/tree/path_to_root.h"
#include "formats/capture/byte_writer.h"
#include "formats/export/exporters.h"

namespace memprof {
namespace {

// A message of protocol buffers. Zero and empty fields are left out, because they are the defaults.
class Message {
 public:
  void Number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    out_.Varint(uint64_t{field} << 3);
    out_.Varint(value);
  }
  void Bytes(uint32_t field, std::string_view bytes) {
    out_.Varint(uint64_t{field} << 3 | 2);
    out_.String(bytes);
  }
  void Add(uint32_t field, const Message& message) { Bytes(field, message.bytes()); }
  void Packed(uint32_t field, const std::vector<uint64_t>& values) {
    ByteWriter packed;
    for (const uint64_t value : values) packed.Varint(value);
    Bytes(field, packed.bytes());
  }
  const std::string& bytes() const { return out_.bytes(); }

 private:
  ByteWriter out_;
};

class Strings {
 public:
  Strings() { Id(""); }
  uint64_t Id(const std::string& text) {
    const auto [place, is_new] = ids_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, uint64_t> ids_;
  std::vector<std::string> texts_;
};

// The figures of a sample, in the order of their value types.
struct Values {
  const char* name;
  Count ProfileSite::*count;
};

// "In use" is what was live when the capture was read, or at the moment that was asked for.
std::vector<Values> ValuesOf(const Profile& profile) {
  std::vector<Values> values = {
      {"alloc", &ProfileSite::total},
      {"inuse", profile.chosen ? &ProfileSite::peak : &ProfileSite::leaked},
      {"peak", &ProfileSite::peak},
      {"leaked", &ProfileSite::leaked}};
  if (profile.tracker.temporary_threshold != 0) {
    values.push_back({"temporary", &ProfileSite::temporary});
  }
  return values;
}

class Builder {
 public:
  explicit Builder(const Profile& profile) : profile_(profile), values_(ValuesOf(profile)) {}

  std::string Build(Figure figure) {
    for (const Values& values : values_) {
      AddValueType(1, std::string(values.name) + "_objects", "count");
      AddValueType(1, std::string(values.name) + "_space", "bytes");
    }
    for (const ProfileSite& site : profile_.sites) AddSample(site);
    AddMappings();
    const int64_t start_ns = profile_.program.start_unix_ms * 1'000'000;
    out_.Number(9, static_cast<uint64_t>(start_ns));
    out_.Number(10, profile_.program.duration_ms * 1'000'000);
    if (profile_.tracker.sample_bytes != 0) {
      AddValueType(11, "space", "bytes");
      out_.Number(12, profile_.tracker.sample_bytes);
      out_.Packed(13, {strings_.Id(SamplingText(profile_.tracker.sample_bytes))});
    }
    const char* names[] = {"peak_space", "leaked_space", "alloc_space"};
    out_.Number(14, strings_.Id(names[static_cast<size_t>(figure)]));
    for (const std::string& text : strings_.texts()) out_.Bytes(6, text);
    return out_.bytes();
  }

 private:
  void AddValueType(uint32_t field, const std::string& type, const char* unit) {
    Message value_type;
    value_type.Number(1, strings_.Id(type));
    value_type.Number(2, strings_.Id(unit));
    out_.Add(field, value_type);
  }

  void AddSample(const ProfileSite& site) {
    Message sample;
    std::vector<uint64_t> locations;
    std::vector<uint32_t> frames;  // of one location, innermost first
    for (const uint32_t node : PathToRoot(profile_.nodes, site.node)) {
      const uint32_t frame = profile_.nodes[node].frame;
      frames.push_back(frame);
      if (profile_.frames[frame].inlined && profile_.nodes[node].parent != 0) continue;
      locations.push_back(Location(frames));
      frames.clear();
    }
    sample.Packed(1, locations);
    std::vector<uint64_t> numbers;
    for (const Values& values : values_) {
      const Count& count = site.*values.count;
      numbers.push_back(count.allocations);
      numbers.push_back(count.bytes);
    }
    sample.Packed(2, numbers);
    Message label;
    label.Number(1, strings_.Id("thread"));
    label.Number(2, strings_.Id(profile_.thread_names[site.thread_name]));
    sample.Add(3, label);
    out_.Add(2, sample);
  }

  uint64_t Location(const std::vector<uint32_t>& frames) {
    const auto [place, is_new] = locations_.try_emplace(frames, locations_.size() + 1);
    if (!is_new) return place->second;
    const ProfileFrame& outer = profile_.frames[frames.back()];
    Message location;
    location.Number(1, place->second);
    if (outer.module < profile_.modules.size()) location.Number(2, outer.module + uint64_t{1});
    location.Number(3, outer.offset);
    for (const uint32_t frame : frames) {
      Message line;
      line.Number(1, Function(profile_.frames[frame]));
      line.Number(2, profile_.frames[frame].line);
      location.Add(4, line);
    }
    out_.Add(4, location);
    return place->second;
  }

  uint64_t Function(const ProfileFrame& frame) {
    const auto [place, is_new] =
        functions_.try_emplace({frame.function, frame.file}, functions_.size() + 1);
    if (!is_new) return place->second;
    Message function;
    function.Number(1, place->second);
    function.Number(2, strings_.Id(frame.function));
    function.Number(3, strings_.Id(frame.function));
    function.Number(4, strings_.Id(frame.file));
    out_.Add(5, function);
    return place->second;
  }

  // Readers take the first mapping for the program's file.
  void AddMappings() {
    std::vector<size_t> order(profile_.modules.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_partition(order.begin(), order.end(), [&](size_t i) {
      const std::string& path = profile_.modules[i].path;
      return BaseName(path) == profile_.program.program;
    });
    for (const size_t i : order) {
      const SnapshotModule& module = profile_.modules[i];
      Message mapping;
      mapping.Number(1, i + 1);
      mapping.Number(3, ~uint64_t{0});  // addresses are the files' own, so any may occur
      mapping.Number(5, strings_.Id(module.path));
      mapping.Number(6, strings_.Id(module.build_id));
      // Says that symbols are resolved already, so that readers don't look them up again.
      for (const uint32_t has : {7u, 8u, 9u, 10u}) mapping.Number(has, 1);
      out_.Add(3, mapping);
    }
  }

  const Profile& profile_;
  const std::vector<Values> values_;
  Message out_;
  Strings strings_;
  std::map<std::vector<uint32_t>, uint64_t> locations_;
  std::map<std::pair<std::string, std::string>, uint64_t> functions_;
};

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

std::string ExportPprof(const Profile& profile, const ExportOptions& options) {
  return Gzip(Builder(profile).Build(options.figure));
}

}  // namespace memprof
