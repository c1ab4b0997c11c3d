// Statistics: the figures of the whole program that `memprof stats` prints, as plain values. The text
// and the page show the same ones.
//
// Invariants
//   1. The rows of each table sum to `total`, if the table has rows.
//   2. The rows of `memory` sum to the RSS of their column.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/count.h"

namespace memprof {

// A figure of one value: "peak", "2.9 MiB (3,000,000 B) in 5,098 allocations".
struct StatisticsFact {
  std::string name;
  std::string value;
};

struct StatisticsRow {
  std::string name;
  std::string place = {};  // of a function; empty: not known
  Count count;
  bool is_rest = false;  // what the other rows don't have
};

struct MemoryTableRow {
  std::string meaning;
  int64_t highest_bytes = 0;  // negative if the parts before it exceed the whole
  int64_t last_bytes = 0;
};

// Where the resident memory was, when it was highest and when it was measured last.
struct MemoryTable {
  uint64_t highest_ms = 0;
  uint64_t last_ms = 0;
  uint64_t highest_rss_bytes = 0;
  uint64_t last_rss_bytes = 0;
  std::vector<MemoryTableRow> rows;  // parts of no bytes are left out
  std::vector<std::string> notes;
  bool is_measured = false;
};

struct Statistics {
  std::vector<StatisticsFact> facts;
  std::vector<std::string> notes;  // why the figures aren't exact and complete
  MemoryTable memory;
  Count total;
  bool estimates = false;                  // of a sampled run
  std::vector<StatisticsRow> sizes;        // by size class, ascending; empty: not known
  std::vector<StatisticsRow> kinds;        // by the function that was called, most bytes first
  std::vector<StatisticsRow> most_bytes;   // the places that allocated most
  std::vector<StatisticsRow> most_blocks;  // … most often
};

}  // namespace memprof
