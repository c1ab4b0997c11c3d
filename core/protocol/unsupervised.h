// A run without a supervisor: the environment tells a preloaded tracker to make its region itself.
//
//   MEMPROF_OUTPUT    the region's file: %p is the pid, %n the program's base name, %% a percent
//                     sign; its folder must exist
//   MEMPROF_OPTIONS   words separated by commas: "sample=512K,exact-peak"
//
// Freestanding, as region_layout.h. Thread safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/protocol/region_layout.h"
#include "core/protocol/sample_weight.h"

namespace memprof {

inline constexpr char kOutputVariable[] = "MEMPROF_OUTPUT";
inline constexpr char kOptionsVariable[] = "MEMPROF_OPTIONS";

inline constexpr uint32_t kDefaultMaxFiles = 64;
inline constexpr uint32_t kMostMaxFiles = 1000;

struct UnsupervisedOptions {
  TrackerOptions tracker = {};
  bool follow_fork = true;   // descendants are followed, in files of their own
  bool command_line = true;  // the command line is kept in the region
  uint32_t max_files = kDefaultMaxFiles;
};

// The error in a text of options: the word and the reason. `why` nullptr: no error.
struct OptionsTrouble {
  const char* why = nullptr;
  const char* word = nullptr;  // points into the text; not terminated
  size_t word_bytes = 0;
};

namespace detail {

struct Word {
  const char* name;
  size_t name_bytes;
  const char* value;  // nullptr: there is none
  size_t value_bytes;
};

// True if the word equals the literal `name`.
template <size_t N>
constexpr bool Is(const Word& word, const char (&name)[N]) {
  if (word.name_bytes != N - 1) return false;
  for (size_t i = 0; i < N - 1; ++i) {
    if (word.name[i] != name[i]) return false;
  }
  return true;
}

// Reads "512", "512K", "2M", "1G". Returns false if it is no such number, or is above `most`.
constexpr bool ReadNumber(const Word& word, bool units, uint64_t most, uint64_t* number) {
  size_t digits = word.value_bytes;
  uint64_t unit = 1;
  if (units && digits > 1) {
    switch (word.value[digits - 1]) {
      case 'K':
        unit = uint64_t{1} << 10;
        break;
      case 'M':
        unit = uint64_t{1} << 20;
        break;
      case 'G':
        unit = uint64_t{1} << 30;
        break;
      default:
        break;
    }
    if (unit != 1) --digits;
  }
  if (word.value == nullptr || digits == 0 || digits > 10) return false;
  uint64_t read = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (word.value[i] < '0' || word.value[i] > '9') return false;
    read = read * 10 + static_cast<uint64_t>(word.value[i] - '0');
  }
  *number = read * unit;  // below 2^34 · 2^30
  return *number <= most;
}

// Applies a word to the options. Returns why the word is wrong, or nullptr if it was applied.
constexpr const char* TakeOption(const Word& word, UnsupervisedOptions* options) {
  uint64_t number = 0;
  if (Is(word, "sample")) {
    if (!ReadNumber(word, true, kMaxSampleBytes, &number)) {
      return "is no distance between samples; write e.g. sample=512K, at most 1G";
    }
    options->tracker.sample_bytes = number;
  } else if (Is(word, "temporary")) {
    if (!ReadNumber(word, false, kMaxTemporaryThreshold, &number) || number == 0) {
      return "is no number of allocations; write temporary=N, from 1 to 64";
    }
    options->tracker.temporary_threshold = static_cast<uint32_t>(number);
  } else if (Is(word, "max-files")) {
    if (!ReadNumber(word, false, kMostMaxFiles, &number) || number == 0) {
      return "is no number of files; write max-files=N, from 1 to 1000";
    }
    options->max_files = static_cast<uint32_t>(number);
  } else if (word.value != nullptr) {
    return "takes no value, or is misspelt: drop the '=' or correct the name";
  } else if (Is(word, "exact-peak")) {
    options->tracker.exact_peak = 1;
  } else if (Is(word, "no-mmap")) {
    options->tracker.mappings = 0;
  } else if (Is(word, "no-python")) {
    options->tracker.python = 0;
  } else if (Is(word, "python-allocators")) {
    options->tracker.python_objects = 1;
  } else if (Is(word, "no-follow-fork")) {
    options->follow_fork = false;
  } else if (Is(word, "no-command-line")) {
    options->command_line = false;
  } else {
    return "is no option";
  }
  return nullptr;
}

}  // namespace detail

// Reads the options. `text` nullptr or empty means that there are none. If an option is repeated,
// the last one counts.
constexpr OptionsTrouble ReadUnsupervisedOptions(const char* text, UnsupervisedOptions* options) {
  if (text == nullptr || *text == 0) return {};
  for (const char* at = text;; ++at) {
    detail::Word word = {at, 0, nullptr, 0};
    for (; *at != 0 && *at != ','; ++at) {
      if (word.value == nullptr && *at == '=') {
        word.value = at + 1;
      } else if (word.value == nullptr) {
        ++word.name_bytes;
      } else {
        ++word.value_bytes;
      }
    }
    if (const char* why = detail::TakeOption(word, options)) {
      return {why, word.name, static_cast<size_t>(at - word.name)};
    }
    if (*at == 0) break;
  }
  if (options->tracker.sample_bytes != 0 && options->tracker.temporary_threshold != 1) {
    return {"above 1 needs every event, and sample leaves most out; give one", "temporary", 9};
  }
  return {};
}

}  // namespace memprof
