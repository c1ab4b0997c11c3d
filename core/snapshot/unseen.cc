#include "core/snapshot/unseen.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/saturated_sum.h"
#include "core/units.h"

namespace memprof {
namespace {

auto KeyOf(const Unseen& unseen) { return std::tie(unseen.kind, unseen.name, unseen.program); }

std::string AllocatorLine(const Unseen& unseen) {
  if (unseen.name == kOfDeepBoundModules) {
    return fmt::format(
        "{} opened a module with RTLD_DEEPBIND, whose allocations pass by the hooks: they are in "
        "no "
        "figure",
        unseen.program.empty() ? "the program" : unseen.program);
  }
  if (unseen.name == kOfOtherNamespaces) {
    return fmt::format(
        "{} opened a module in a namespace of its own (dlmopen), which has a libc of its own: its "
        "allocations are in no figure",
        unseen.program.empty() ? "the program" : unseen.program);
  }
  if (unseen.name == "valgrind") {
    return fmt::format(
        "{} ran under a tool of valgrind's that has a malloc of its own, which isn't hooked: what "
        "it "
        "allocated is in no figure",
        unseen.program.empty() ? "the program" : unseen.program);
  }
  const std::string inside = unseen.name == "malloc" ? "a malloc of its own" : "a " + unseen.name;
  // libc's reallocarray, or a library's blocks, may end in the program's own free().
  const char* freed =
      unseen.name == "malloc" ? ", and blocks of others that it frees may look leaked" : "";
  return fmt::format(
      "{} has {} inside that isn't hooked: what it allocates with that is in no figure{}",
      unseen.program.empty() ? "the program" : unseen.program, inside, freed);
}

std::string ExecutedLine(const Unseen& unseen) {
  return fmt::format(
      "{} executed {}, which ran without a tracker: nothing of that is in the figures",
      unseen.program.empty() ? "the program" : unseen.program,
      unseen.name.empty() ? "another program" : unseen.name);
}

// In one line, since a build may run many programs.
std::string ProcessesLine(const std::vector<Unseen>& unseen) {
  constexpr size_t kMost = 8;
  std::string names;
  uint64_t count = 0;
  size_t programs = 0;
  for (const Unseen& one : unseen) {
    if (one.kind != Unseen::Kind::kProcesses) continue;
    count = SaturatedSum(count, one.count);
    if (++programs > kMost) continue;
    names += (names.empty() ? "" : ", ") + one.name;
    if (one.count > 1) names += fmt::format(" ({})", FormatCount(one.count));
  }
  if (programs > kMost) names += fmt::format(" and {} more programs", programs - kMost);
  return fmt::format("{} ran without a tracker and {} in no figure: {}",
                     count == 1 ? "1 process" : FormatCount(count) + " processes",
                     count == 1 ? "is" : "are", names);
}

}  // namespace

void AddUnseen(std::vector<Unseen>& all, const std::vector<Unseen>& more) {
  // Not one at a time in its place: a foreign file may have very many.
  all.insert(all.end(), more.begin(), more.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Unseen& a, const Unseen& b) { return KeyOf(a) < KeyOf(b); });
  size_t kept = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    if (KeyOf(all[kept]) == KeyOf(all[i])) {
      all[kept].count = SaturatedSum(all[kept].count, all[i].count);
    } else if (++kept != i) {
      all[kept] = std::move(all[i]);
    }
  }
  if (!all.empty()) all.resize(kept + 1);
}

std::vector<std::string> UnseenLines(const std::vector<Unseen>& unseen) {
  std::vector<std::string> lines;
  bool has_processes = false;
  for (const Unseen& one : unseen) {
    switch (one.kind) {
      case Unseen::Kind::kAllocator:
        lines.push_back(AllocatorLine(one));
        break;
      case Unseen::Kind::kExecuted:
        lines.push_back(ExecutedLine(one));
        break;
      case Unseen::Kind::kProcesses:
        if (!has_processes) lines.push_back(ProcessesLine(unseen));
        has_processes = true;
        break;
      case Unseen::Kind::kChildren:
        lines.push_back(fmt::format(
            "{} found no room to count in: {} in no figure, nor are the processes that {} made",
            one.count == 1 ? "1 forked child" : FormatCount(one.count) + " forked children",
            one.count == 1 ? "it is" : "they are", one.count == 1 ? "it" : "they"));
        break;
    }
  }
  return lines;
}

}  // namespace memprof
