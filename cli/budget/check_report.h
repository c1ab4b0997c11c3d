// CheckReport: captures held against a budget, as every format tells it.
//
// Invariant: the rows behind a limit and their others sum to its value, where it is a sum of sites.
// Thread safety: plain values. Ownership: verdicts point into the budget, which must outlive them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/reports/difference/profile_diff.h"
#include "core/budget/judge.h"

namespace memprof {

// The stacks that a figure comes from. With a baseline those that grew come first, most growth
// first; then the heaviest.
struct Behind {
  std::vector<DiffRow> rows;  // a few
  DiffFigures others_before, others_after;
  size_t others = 0;  // stacks that are not rows, and have or had any of the figure
};

// Something that a budget demands, and how it stands: a limit, a match that is required, or a
// suppression.
struct CheckItem {
  std::string check;    // the limit's key, "required-match" or "expired-suppression"
  std::string subject;  // what it is of: "the program", "function parse_*"
  uint32_t line = 0;    // in the budget file
  Standing standing = Standing::kWithin;
  std::string says;                   // one line
  std::optional<LimitVerdict> limit;  // of a limit; its lists of sites are empty
  Behind behind;                      // of a limit that is over
  std::string fingerprint;  // the same in every build and run, and another than the report's others
};

struct CaptureCheck {
  std::string capture;  // its name
  std::string error;    // it can't be read, and nothing was checked; empty: it was
  std::string program;
  uint64_t duration_ms = 0;
  std::vector<CheckItem> items;    // in the file's order
  std::vector<std::string> notes;  // what keeps the figures from being exact, and what didn't apply
  std::vector<std::string> unseen;  // of these, what is known to be in no figure: to be warned of
};

struct CheckReport {
  std::string budget;    // the file's name
  std::string baseline;  // the capture's; empty: none
  std::vector<CaptureCheck> captures;
};

size_t CountOf(const CaptureCheck& check, Standing standing);
bool IsOver(const CaptureCheck& check);
bool IsOver(const CheckReport& report);
bool IsUnreadable(const CheckReport& report);

// "the program: peak", "function parse_*: leaked allocations".
std::string TitleOf(const CheckItem& item);

// The heaviest first: what is over its limit by the largest part of it.
struct OverItem {
  const CaptureCheck* check;
  const CheckItem* item;
};
std::vector<OverItem> ItemsOver(const CheckReport& report);

// The figure of a row that a limit is about, and its size in the limit's own unit (bytes, blocks).
uint64_t WeightOf(const LimitKind& kind, const DiffFigures& figures);

}  // namespace memprof
