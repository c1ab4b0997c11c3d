// Checks of options' values, for CLI11's check(): they return an empty text for a good value.
#pragma once

#include <string>

#include "core/protocol/region_layout.h"
#include "core/protocol/sample_weight.h"
#include "core/protocol/unsupervised.h"
#include "core/units.h"

namespace memprof {

// CLI11 would read "-1" as a very large number and "010" as eight.
inline bool IsWholeNumber(const std::string& text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string::npos &&
         (text[0] != '0' || text == "0");
}

// "'-1' is no number of rows".
inline std::string WholeNumberOf(const char* what, const std::string& text) {
  return IsWholeNumber(text) ? "" : "'" + text + "' is no number of " + what;
}

inline std::string RowCount(const std::string& text) { return WholeNumberOf("rows", text); }

// For run --children-files.
inline std::string ChildrenFileCount(const std::string& text) {
  return WholeNumberOf("files", text);
}

// For run --temporary.
inline std::string TemporaryThreshold(const std::string& text) {
  if (IsWholeNumber(text) && text != "0" && std::stoul(text) <= kMaxTemporaryThreshold) return "";
  return "'" + text + "' is no number of allocations; write one from 1 to " +
         std::to_string(kMaxTemporaryThreshold);
}

// For env --max-files.
inline std::string FileCount(const std::string& text) {
  if (IsWholeNumber(text) && text != "0" && std::stoul(text) <= kMostMaxFiles) return "";
  return "'" + text + "' is no number of files; write one from 1 to " +
         std::to_string(kMostMaxFiles);
}

// For run --sample: a size; 0 turns sampling off.
inline std::string SampleDistance(const std::string& text) {
  const auto bytes = ParseBytes(text);
  if (bytes && *bytes <= kMaxSampleBytes) return "";
  return "'" + text + "' is no distance between samples; write e.g. 512K or 2 MiB, at most 1 GiB";
}

}  // namespace memprof
