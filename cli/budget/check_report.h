// CheckReport: the result of checking captures against a budget, for every output format.
//
// Invariant: the rows behind a limit and their others sum to its value, if it is a sum over sites.
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

// The stacks behind a figure. With a baseline those that grew come first, most growth first; then
// the heaviest.
struct Contributors {
  std::vector<DiffRow> rows;  // a few
  DiffFigures others_before, others_after;
  size_t others = 0;  // number of stacks without a row that have or had any of the figure
};

// The result for one demand of a budget: a limit, a required match, or a suppression.
struct CheckItem {
  std::string check;    // the limit's key, "required-match" or "expired-suppression"
  std::string subject;  // what it applies to: "the program", "function parse_*"
  uint32_t line = 0;    // in the budget file
  Standing standing = Standing::kWithin;
  std::string says;                   // one line
  std::optional<LimitVerdict> limit;  // for a limit; its lists of sites are empty
  Contributors contributors;          // for a limit that is over
  std::string fingerprint;  // the same in every build and run, and unique within the report
};

struct CaptureCheck {
  std::string capture;  // its name
  std::string error;    // why it can't be read and nothing was checked; empty: it was
  std::string program;
  uint64_t duration_ms = 0;
  std::vector<CheckItem> items;    // in the file's order
  std::vector<std::string> notes;  // why figures aren't exact, and what didn't apply
  // among these, what is known to be in no figure: to be warned about
  std::vector<std::string> unseen;
};

struct CheckReport {
  std::string budget;            // the file's name
  std::string baseline;          // the capture's, or several names; empty: none
  std::string baseline_options;  // " --baseline x.memprof", for a shell
  std::vector<CaptureCheck> captures;
};

size_t CountOf(const CaptureCheck& check, Standing standing);
bool IsOver(const CaptureCheck& check);
bool IsOver(const CheckReport& report);
bool IsUnreadable(const CheckReport& report);

// "the program: peak", "function parse_*: leaked allocations".
std::string TitleOf(const CheckItem& item);

// An item that is over its limit. The heaviest comes first: the one that exceeds its limit by the
// largest part of the limit.
struct OverItem {
  const CaptureCheck* check;
  const CheckItem* item;
};
std::vector<OverItem> ItemsOver(const CheckReport& report);

// The figure of a row that a limit applies to, in the limit's own unit (bytes, blocks).
uint64_t WeightOf(const LimitKind& kind, const DiffFigures& figures);

}  // namespace memprof
