#include "cli/budget/check_report.h"

#include <algorithm>
#include <limits>

namespace memprof {
namespace {

double Excess(const CheckItem& item) {
  if (!item.limit || item.limit->most <= 0) return std::numeric_limits<double>::infinity();
  return item.limit->value / item.limit->most;
}

}  // namespace

size_t CountOf(const CaptureCheck& check, Standing standing) {
  return static_cast<size_t>(
      std::count_if(check.items.begin(), check.items.end(),
                    [&](const CheckItem& item) { return item.standing == standing; }));
}

bool IsOver(const CaptureCheck& check) { return CountOf(check, Standing::kOver) != 0; }

bool IsOver(const CheckReport& report) {
  return std::any_of(report.captures.begin(), report.captures.end(),
                     [](const CaptureCheck& check) { return IsOver(check); });
}

bool IsUnreadable(const CheckReport& report) {
  return std::any_of(report.captures.begin(), report.captures.end(),
                     [](const CaptureCheck& check) { return !check.error.empty(); });
}

std::string TitleOf(const CheckItem& item) {
  if (!item.limit) return item.subject;
  std::string check = item.check;
  std::replace(check.begin(), check.end(), '_', ' ');
  return item.subject + ": " + check;
}

std::vector<OverItem> ItemsOver(const CheckReport& report) {
  std::vector<OverItem> items;
  for (const CaptureCheck& check : report.captures) {
    for (const CheckItem& item : check.items) {
      if (item.standing == Standing::kOver) items.push_back({&check, &item});
    }
  }
  std::stable_sort(items.begin(), items.end(), [](const OverItem& a, const OverItem& b) {
    return Excess(*a.item) > Excess(*b.item);
  });
  return items;
}

uint64_t WeightOf(const LimitKind& kind, const DiffFigures& figures) {
  const Count& count = FigureOf(figures, kind.figure);
  return kind.by_allocations ? count.allocations : count.bytes;
}

}  // namespace memprof
