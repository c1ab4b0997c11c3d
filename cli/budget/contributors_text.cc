#include "cli/budget/contributors_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/reports/difference/diff_text.h"
#include "cli/reports/rows.h"
#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {
namespace {

// The rows' figures: the current one, its share, and with a baseline the change.
class StackLines {
 public:
  StackLines(const LimitKind& kind, uint64_t whole, bool baseline, const TextStyle& style)
      : kind_(kind), whole_(whole), baseline_(baseline), table_(Headings(kind, baseline), style) {}

  void Add(const DiffFigures& before, const DiffFigures& after, std::string function,
           std::string place = {}, std::string callers = {}) {
    const uint64_t now = WeightOf(kind_, after);
    const uint64_t error = Error(FigureOf(after.variances, kind_.figure));
    std::vector<std::string> figures = {
        kind_.by_allocations ? FormatCountWithError(now, error) : FormatBytesWithError(now, error),
        FormatShare(now, whole_)};
    if (baseline_) {
      const uint64_t changed = Error(ChangeVariance(before, after, kind_.figure));
      const auto change = static_cast<int64_t>(now - WeightOf(kind_, before));
      figures.push_back(kind_.by_allocations ? FormatCountChange(change, changed)
                                             : FormatBytesChange(change, changed));
    }
    table_.Add({std::move(figures), std::move(function), std::move(place), std::move(callers)});
  }

  std::string Text() const { return table_.Text(); }

 private:
  static std::vector<std::string> Headings(const LimitKind& kind, bool baseline) {
    std::vector<std::string> headings = {kind.by_allocations                ? "blocks"
                                         : kind.unit == Unit::kBytesPerHour ? "an hour"
                                                                            : "bytes",
                                         "share"};
    if (baseline) headings.push_back("change");
    return headings;
  }

  uint64_t Error(const Variance& variance) const {
    const Count error = StandardError(variance);
    return kind_.by_allocations ? error.allocations : error.bytes;
  }

  const LimitKind& kind_;
  const uint64_t whole_;
  const bool baseline_;
  TextTable table_;
};

}  // namespace

std::string ContributorsText(const CheckItem& item, bool baseline, size_t rows,
                             const TextStyle& style) {
  const Contributors& contributors = item.contributors;
  if (!item.limit || contributors.rows.empty() || rows == 0) return {};
  const LimitKind& kind = *item.limit->limit->kind;
  DiffFigures before = contributors.others_before, after = contributors.others_after;
  uint64_t whole = WeightOf(kind, after);
  for (const DiffRow& row : contributors.rows) whole += WeightOf(kind, row.after);
  StackLines table(kind, whole, baseline, style);
  const size_t shown = std::min(rows, contributors.rows.size());
  for (size_t i = 0; i < contributors.rows.size(); ++i) {
    const DiffRow& row = contributors.rows[i];
    if (i < shown) {
      table.Add(row.before, row.after, Printable(row.function),
                Printable(PlaceOf(row.function, row.file, row.line, row.module)), CallersText(row));
      continue;
    }
    AddFigures(before, row.before);
    AddFigures(after, row.after);
    before.variances += row.before.variances;
    after.variances += row.after.variances;
  }
  const size_t others = contributors.others + contributors.rows.size() - shown;
  if (others != 0) {
    table.Add(before, after, fmt::format("others ({})", FormatCountOf(others, "stack")));
  }
  return table.Text();
}

}  // namespace memprof
