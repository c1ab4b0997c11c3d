// Splits a capture's bytes into sections, without interpreting their content.
//
// Thread safety: pure. Failure: never; a section records what is wrong with it.
// Memory: the sections' content is at most kMaxRawBytes in all, and less in a small file, whatever
// their headers say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memprof {

struct CaptureSection {
  uint64_t file_offset = 0;  // of its header
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
  std::string raw;     // the content; empty if there is damage
  std::string damage;  // what is damaged; empty: nothing
};

struct CaptureSections {
  std::vector<CaptureSection> sections;  // without the end section
  bool complete = false;                 // there was an end section with the right count
};

// Pre: the file header was checked. `bytes` is the whole file.
CaptureSections SplitSections(std::string_view bytes);

// "sites"; of an unknown type "type 77".
std::string SectionName(uint32_t type);

}  // namespace memprof
