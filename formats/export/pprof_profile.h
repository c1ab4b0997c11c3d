// PprofProfile: makes a file of pprof's profile.proto, compressed by gzip. Several profiles may be
// added, as those of a program's processes, or one to be taken off from another: stacks with the same
// frames, thread and values' types become one sample, and one that is left with zeros only is dropped.
//
// Source: https://github.com/google/pprof/blob/main/proto/profile.proto, which defines the field
// numbers. A Location is one return address with all functions that were inlined there.
//
// Thread safety: none. The same profiles give the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/profile/profile.h"
#include "formats/capture/byte_writer.h"

namespace memprof {

// A message of protocol buffers. Zero and empty fields are left out, because they are the defaults.
class PprofMessage {
 public:
  void Number(uint32_t field, uint64_t value);
  void Bytes(uint32_t field, std::string_view bytes);
  void Add(uint32_t field, const PprofMessage& message) { Bytes(field, message.bytes()); }
  void Packed(uint32_t field, const std::vector<uint64_t>& values);
  const std::string& bytes() const { return out_.bytes(); }

 private:
  ByteWriter out_;
};

// Two values of a sample: NAME_objects in count, and NAME_space in bytes.
struct PprofFigure {
  const char* name;
  Count ProfileSite::*count;
};

// What is said of the whole file.
struct PprofFacts {
  int64_t time_ns = 0;       // since 1970
  uint64_t duration_ns = 0;  // 0: not said
  uint64_t period = 1;       // mean bytes from sample to sample; 1: every allocation counts
  std::string default_type;  // which type is shown first: "inuse_space"
  std::string comment;       // empty: none
};

class PprofProfile {
 public:
  // `threads`: a sample is labelled with its thread. Otherwise threads are summed.
  PprofProfile(std::vector<PprofFigure> figures, bool threads)
      : figures_(std::move(figures)), threads_(threads) {}

  void Add(const Profile& profile) { AddTimes(profile, 1); }
  void TakeOff(const Profile& profile) { AddTimes(profile, -1); }

  // Pre: called once.
  std::string Build(const PprofFacts& facts);

 private:
  struct SampleKey {
    std::vector<uint64_t> locations;  // innermost first
    uint64_t thread = 0;              // a string's id; 0: no label
    auto operator<=>(const SampleKey&) const = default;
  };
  struct LocationKey {
    uint64_t mapping = 0;
    uint64_t offset = 0;
    std::vector<std::pair<uint64_t, uint32_t>> lines;  // function and line, innermost first
    auto operator<=>(const LocationKey&) const = default;
  };
  struct FunctionKey {
    uint64_t name = 0, file = 0;  // strings' ids
    auto operator<=>(const FunctionKey&) const = default;
  };
  struct MappingKey {
    std::string path, build_id;
    auto operator<=>(const MappingKey&) const = default;
  };

  void AddTimes(const Profile& profile, int sign);
  uint64_t Location(const Profile& profile, const std::vector<uint32_t>& frames);
  uint64_t Mapping(const SnapshotModule& module);
  uint64_t String(const std::string& text);
  void WriteValueType(uint32_t field, const std::string& type, const char* unit);
  void WriteMappings();

  const std::vector<PprofFigure> figures_;
  const bool threads_;
  PprofMessage out_;
  std::map<std::string, uint64_t> string_ids_ = {{"", 0}};
  std::vector<std::string> strings_ = {""};
  std::map<MappingKey, uint64_t> mapping_ids_;
  std::vector<MappingKey> mappings_;
  std::map<FunctionKey, uint64_t> function_ids_;
  std::map<LocationKey, uint64_t> location_ids_;
  std::map<SampleKey, size_t> sample_ids_;
  std::vector<std::pair<SampleKey, std::vector<int64_t>>> samples_;  // in the order of their coming
};

}  // namespace memprof
