#include "cli/live/live_lines.h"

#include <algorithm>
#include <utility>

namespace memprof {
namespace {

constexpr size_t kMostSingleSteps = 32;  // opened at once

}  // namespace

void LiveLines::Update(const LiveTable& table, const LiveView& view) {
  const LiveCallers::Path at = lines_.empty() ? LiveCallers::Path() : lines_[cursor_].path;
  lines_.clear();
  const LiveCallers callers(table, view, callees_);
  std::vector<LiveRow> rows = table.Rows(view);
  const std::vector<bool> can_open = callers.HaveBehind(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const LiveKey key = rows[i];
    lines_.push_back({std::move(rows[i]), {key}, can_open[i], false});
    AddBehind(callers, lines_.size() - 1, 0);
  }
  opened_.clear();
  const auto same = std::find_if(lines_.begin(), lines_.end(),
                                 [&at](const Line& line) { return line.path == at; });
  if (same != lines_.end()) cursor_ = static_cast<size_t>(same - lines_.begin());
  MoveTo(cursor_);
}

void LiveLines::AddBehind(const LiveCallers& callers, size_t line, size_t single_steps) {
  const LiveCallers::Path path = lines_[line].path;
  if (open_.count(path) == 0) return;
  std::vector<LiveCallers::Step> rows = callers.Behind(path);
  lines_[line].is_open = !rows.empty();
  if (rows.empty()) open_.erase(path);
  const bool single = path == opened_ && rows.size() == 1 && single_steps < kMostSingleSteps;
  for (LiveCallers::Step& row : rows) {
    LiveCallers::Path behind = path;
    behind.push_back(row);
    if (single) open_.insert(opened_ = behind);
    const bool can_open = row.has_behind;
    lines_.push_back({std::move(row), std::move(behind), can_open, false});
    AddBehind(callers, lines_.size() - 1, single_steps + 1);
  }
}

void LiveLines::MoveTo(size_t line) {
  cursor_ = lines_.empty() ? 0 : std::min(line, lines_.size() - 1);
}

void LiveLines::MoveBy(long lines) {
  const auto at = static_cast<long>(cursor_) + lines;
  MoveTo(at < 0 ? 0 : static_cast<size_t>(at));
}

void LiveLines::Toggle() {
  if (lines_.empty() || !lines_[cursor_].can_open) return;
  const LiveCallers::Path& path = lines_[cursor_].path;
  if (open_.erase(path) == 0) open_.insert(opened_ = path);
}

void LiveLines::Open() {
  if (lines_.empty()) return;
  if (lines_[cursor_].is_open) return MoveBy(1);
  if (open_.count(lines_[cursor_].path) == 0) Toggle();
}

void LiveLines::Close() {
  if (lines_.empty() || open_.erase(lines_[cursor_].path) != 0) return;
  const size_t depth = lines_[cursor_].path.size();
  if (depth == 1) return;
  while (lines_[cursor_].path.size() >= depth) --cursor_;
}

void LiveLines::Turn() {
  callees_ = !callees_;
  CloseAll();
}

bool LiveLines::Find(const std::string& text, bool backwards) {
  const std::string lower = LowerCase(text);
  const size_t count = lines_.size();
  for (size_t step = 1; step <= count; ++step) {
    const size_t at = (cursor_ + (backwards ? count - step : step)) % count;
    if (!Contains(lines_[at].row, lower)) continue;
    cursor_ = at;
    return true;
  }
  return false;
}

}  // namespace memprof
