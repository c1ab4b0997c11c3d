#include "cli/live/live_callers.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/reports/rows.h"
#include "core/frame_kind.h"
#include "core/profile/location.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

constexpr char kOutermost[] = "[outermost]";
constexpr char kOwn[] = "[own]";

}  // namespace

bool LiveCallers::IsEnd(const LiveKey& key) { return key.name == kOutermost || key.name == kOwn; }

LiveCallers::LiveCallers(const LiveTable& table, const LiveView& view, bool callees)
    : table_(table), view_(view), callees_(callees) {
  for (uint32_t i = 0; i < table.processes().size(); ++i) {
    const Profile& profile = table.processes()[i].profile;
    // A frame has the same key in all of its nodes.
    std::vector<uint32_t> numbers(profile.nodes.size());
    std::vector<bool> of_program(profile.nodes.size());
    std::vector<uint32_t> of_frame(profile.frames.size(), UINT32_MAX);
    std::vector<bool> frame_of_program(profile.frames.size());
    for (uint32_t node = 0; node < profile.nodes.size(); ++node) {
      if (node == 0) {
        numbers[0] = Number(KeyOfNode(profile, 0, view.by));
        continue;
      }
      const uint32_t at = profile.nodes[node].frame;
      if (of_frame[at] == UINT32_MAX) {
        of_frame[at] = Number(KeyOfNode(profile, node, view.by));
        const ProfileFrame& frame = profile.frames[at];
        const std::string_view module = frame.module < profile.modules.size()
                                            ? std::string_view(profile.modules[frame.module].path)
                                            : std::string_view();
        frame_of_program[at] = ClassifyFrame(frame.function, module) == FrameKind::kProgram;
      }
      numbers[node] = of_frame[at];
      of_program[node] = frame_of_program[at];
    }
    for (uint32_t site = 0; site < profile.sites.size(); ++site) {
      stacks_.push_back(StackOf(i, site, numbers, of_program));
    }
  }
}

uint32_t LiveCallers::Number(const LiveKey& key) {
  const auto [at, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return at->second;
}

std::optional<uint32_t> LiveCallers::NumberOf(const LiveKey& key) const {
  const auto at = numbers_.find(key);
  if (at == numbers_.end()) return std::nullopt;
  return at->second;
}

LiveCallers::Stack LiveCallers::StackOf(uint32_t process, uint32_t site,
                                        const std::vector<uint32_t>& numbers,
                                        const std::vector<bool>& of_program) const {
  const Profile& profile = table_.processes()[process].profile;
  Stack stack;
  stack.site = {process, site};
  const uint32_t location = LocationOf(profile, profile.sites[site]);
  for (const uint32_t node : PathToRoot(profile.nodes, profile.sites[site].node)) {
    if (node == location) stack.own = stack.keys.size();
    if (node == location || of_program[node]) stack.keys.push_back(numbers[node]);
  }
  if (stack.keys.empty()) stack.keys.push_back(numbers[location]);
  return stack;
}

std::optional<long> LiveCallers::FirstBehind(const LiveKey& row, const Stack& stack) const {
  const auto count = static_cast<long>(stack.keys.size());
  const auto own = static_cast<long>(stack.own);
  const Profile& profile = table_.processes()[stack.site.process].profile;
  if (profile.sites[stack.site.site].runtime_reason != nullptr && view_.by != LiveBy::kThread &&
      view_.by != LiveBy::kProcess) {
    return std::nullopt;  // one row for all of them
  }
  if (IsOfFrames()) {
    const auto number = NumberOf(row);
    if (!number) return std::nullopt;
    long at = own;
    if (view_.inclusive) {
      // The outermost one has what all of them called.
      for (at = count - 1; at >= 0 && stack.keys[static_cast<size_t>(at)] != *number; --at) {
      }
      if (at < 0) return std::nullopt;
    } else if (stack.keys[stack.own] != *number) {
      return std::nullopt;
    }
    return callees_ ? at - 1 : at + 1;
  }
  if (!table_.IsIn(row, stack.site, view_)) return std::nullopt;
  return FirstBehindGroup(stack);
}

long LiveCallers::FirstBehindGroup(const Stack& stack) const {
  if (callees_) return static_cast<long>(stack.keys.size()) - 1;
  const auto own = static_cast<long>(stack.own);
  return view_.by == LiveBy::kSite ? own + 1 : own;
}

// What allocates is where callees end: what is called from there is the allocator's plumbing.
bool LiveCallers::IsThere(const Stack& stack, long at) const {
  if (!callees_) return at < static_cast<long>(stack.keys.size());
  return at >= (view_.inclusive && IsOfFrames() ? 0 : static_cast<long>(stack.own));
}

std::vector<bool> LiveCallers::HaveBehind(const std::vector<LiveRow>& rows) const {
  std::vector<bool> have(rows.size());
  // Frames' keys are found by their numbers, sites' by the stacks'.
  std::unordered_map<uint64_t, size_t> indices;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (view_.by == LiveBy::kSite) {
      indices[rows[i].stack] = i;
    } else if (!IsOfFrames()) {
      have[i] = rows[i].name != kRuntimeRow;  // where it allocates
    } else if (const auto number = NumberOf(rows[i])) {
      indices[*number] = i;
    }
  }
  if (view_.by != LiveBy::kSite && !IsOfFrames()) return have;
  for (const Stack& stack : stacks_) {
    const auto note = [&](uint64_t key) {
      const auto at = indices.find(key);
      if (at == indices.end() || have[at->second]) return;
      // That a site is in the row of its stack needn't be asked: it takes a text of all callers.
      const auto first = view_.by == LiveBy::kSite ? FirstBehindGroup(stack)
                                                   : FirstBehind(rows[at->second], stack);
      have[at->second] = first && IsThere(stack, *first);
    };
    if (view_.by == LiveBy::kSite) {
      note(table_.processes()[stack.site.process].stacks[stack.site.site]);
    } else if (view_.inclusive) {
      for (const uint32_t key : stack.keys) note(key);
    } else {
      note(stack.keys[stack.own]);
    }
  }
  return have;
}

std::vector<LiveCallers::Step> LiveCallers::Behind(const Path& path) const {
  std::vector<Step> rows;
  if (path.empty() || IsEnd(path.back())) return rows;
  std::vector<uint32_t> steps;
  for (size_t i = 1; i < path.size(); ++i) {
    const auto number = NumberOf(path[i]);
    if (!number) return rows;
    steps.push_back(*number);
  }
  struct Group {
    std::vector<LiveSite> sites;
    bool has_behind = false;
  };
  std::map<uint32_t, Group> behind;
  std::vector<LiveSite> ended;
  for (const Stack& stack : stacks_) {
    const auto first = FirstBehind(path[0], stack);
    if (!first) continue;
    const long step = callees_ ? -1 : 1;
    long at = *first;
    bool is_of_path = true;
    for (const uint32_t number : steps) {
      is_of_path = IsThere(stack, at) && stack.keys[static_cast<size_t>(at)] == number;
      if (!is_of_path) break;
      at += step;
    }
    if (!is_of_path) continue;
    if (IsThere(stack, at)) {
      Group& group = behind[stack.keys[static_cast<size_t>(at)]];
      group.sites.push_back(stack.site);
      group.has_behind = group.has_behind || IsThere(stack, at + step);
    } else {
      ended.push_back(stack.site);
    }
  }
  if (behind.empty()) return rows;
  for (const auto& [number, group] : behind) {
    rows.push_back({table_.Sum(keys_[number], group.sites), group.has_behind});
  }
  if (!ended.empty()) {
    rows.push_back({table_.Sum({callees_ ? kOwn : kOutermost, "", "", "", 0}, ended), false});
  }
  std::erase_if(rows, IsEmpty);
  SortRows(rows, view_.sort);
  return rows;
}

}  // namespace memprof
