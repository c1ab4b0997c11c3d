#include "core/profile/renamed_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "core/frame_kind.h"
#include "core/profile/function_name.h"

namespace memprof {
namespace {

constexpr double kSameCallers = 0.6;     // of the allocations
constexpr double kSameCallees = 0.5;     // likewise
constexpr double kSameSize = 0.9;        // of the larger one
constexpr double kClearlyBetter = 0.15;  // of the score, over the second best

using KeyId = uint32_t;
using Shares = std::map<KeyId, double>;  // by neighbour; the sum is 1

// A function that one profile lacks: what was allocated below it, and through whom.
struct Function {
  Count total = {};
  Shares callers, callees;
};

// The names of both profiles; equal names have one id.
class Keys {
 public:
  KeyId Of(const SymbolKey& key) {
    const auto [at, fresh] = ids_.try_emplace(key, static_cast<KeyId>(ids_.size()));
    if (fresh) names_.push_back(&at->first);
    return at->second;
  }
  const SymbolKey& operator[](KeyId id) const { return *names_[id]; }
  size_t size() const { return ids_.size(); }

 private:
  std::map<SymbolKey, KeyId> ids_;
  std::vector<const SymbolKey*> names_;
};

constexpr KeyId kRoot = 0;

std::vector<KeyId> KeysOfFrames(const Profile& profile, Keys& keys) {
  std::vector<KeyId> ids;
  for (const ProfileFrame& frame : profile.frames) {
    ids.push_back(keys.Of(SymbolKeyOf(profile, frame)));
  }
  return ids;
}

// Code with a name, and no plumbing: libraries' own names are the same in both profiles.
bool MayBeRenamed(const SymbolKey& key) {
  return key.function != kNoSymbol && !key.module.empty() &&
         ClassifyFrame(key.function, key.module) == FrameKind::kProgram;
}

void MakeShares(Shares& shares) {
  double sum = 0;
  for (const auto& [key, weight] : shares) sum += weight;
  for (auto& [key, weight] : shares) weight /= std::max(sum, 1.0);
}

// The functions with `wanted` names.
std::map<KeyId, Function> FunctionsOf(const Profile& profile, const std::vector<KeyId>& frame_keys,
                                      const std::vector<bool>& wanted) {
  std::vector<Count> below(profile.nodes.size());
  for (const ProfileSite& site : profile.sites) below[site.node] += site.total;
  const std::vector<Count> own = below;
  for (size_t node = profile.nodes.size(); node-- > 1;) {
    below[profile.nodes[node].parent] += below[node];
  }
  auto key_of = [&](size_t node) {
    return node == 0 ? kRoot : frame_keys[profile.nodes[node].frame];
  };
  std::map<KeyId, Function> functions;
  for (size_t node = 1; node < profile.nodes.size(); ++node) {
    const KeyId key = key_of(node);
    const KeyId caller = key_of(profile.nodes[node].parent);
    if (key == caller) continue;  // direct recursion is within its outermost call
    const auto blocks = static_cast<double>(below[node].allocations);
    if (wanted[key]) {
      Function& function = functions[key];
      function.total += below[node];
      function.callers[caller] += blocks;
      // An allocation of its own stands beside the callees, as the root: nobody calls that.
      function.callees[kRoot] += static_cast<double>(own[node].allocations);
    }
    if (caller != kRoot && wanted[caller]) functions[caller].callees[key] += blocks;
  }
  for (auto& [key, function] : functions) {
    MakeShares(function.callers);
    MakeShares(function.callees);
  }
  return functions;
}

double Ratio(uint64_t a, uint64_t b) {
  return a == b ? 1 : static_cast<double>(std::min(a, b)) / static_cast<double>(std::max(a, b));
}

// "Read" of "json::Reader<int>::Read(char const*)".
std::string_view LastName(std::string_view function) {
  const std::string_view qualified = QualifiedName(function);
  const auto scopes = EnclosingScopes(qualified);
  std::string_view name = qualified;
  if (!scopes.empty()) name.remove_prefix(std::min(scopes.back().size() + 2, name.size()));
  return name.substr(0, name.find('<'));
}

class Pairing {
 public:
  Pairing(const Profile& before, const Profile& after) {
    keys_.Of({"", ""});  // kRoot
    const std::vector<KeyId> old_frames = KeysOfFrames(before, keys_);
    const std::vector<KeyId> new_frames = KeysOfFrames(after, keys_);
    std::vector<bool> in_old(keys_.size()), in_new(keys_.size());
    for (const KeyId key : old_frames) in_old[key] = true;
    for (const KeyId key : new_frames) in_new[key] = true;
    std::vector<bool> gone(keys_.size()), fresh(keys_.size());
    bool any_gone = false, any_fresh = false;
    for (KeyId key = kRoot + 1; key < keys_.size(); ++key) {
      if (in_old[key] == in_new[key] || !MayBeRenamed(keys_[key])) continue;
      (in_old[key] ? gone : fresh)[key] = true;
      (in_old[key] ? any_gone : any_fresh) = true;
    }
    if (!any_gone || !any_fresh) return;
    gone_ = FunctionsOf(before, old_frames, gone);
    fresh_ = FunctionsOf(after, new_frames, fresh);
  }

  // A pair makes its callees' callers known, so rounds go on until one adds nothing.
  std::map<KeyId, KeyId> Find() {
    while (Round()) {
    }
    return pairs_;
  }

  const Keys& keys() const { return keys_; }

 private:
  struct Candidate {
    KeyId other = 0;
    double score = 0, second = 0;  // of the best, and of the next best
    void Offer(KeyId key, double value) {
      if (value > score) {
        second = std::exchange(score, value);
        other = key;
      } else {
        second = std::max(second, value);
      }
    }
    bool clear() const { return score > 0 && score - second >= kClearlyBetter; }
  };

  double Common(const Shares& old_shares, const Shares& new_shares) const {
    double common = 0;
    for (const auto& [key, share] : old_shares) {
      const auto paired = pairs_.find(key);
      const auto at = new_shares.find(paired == pairs_.end() ? key : paired->second);
      if (at != new_shares.end()) common += std::min(share, at->second);
    }
    return common;
  }

  // Callees that may be renamed themselves are taken for each other: they are paired after their
  // caller.
  double CommonCallees(const Shares& old_shares, const Shares& new_shares) const {
    auto open_part = [](const Shares& shares, const std::map<KeyId, Function>& open) {
      double part = 0;
      for (const auto& [key, share] : shares) part += open.contains(key) ? share : 0;
      return part;
    };
    return Common(old_shares, new_shares) +
           std::min(open_part(old_shares, gone_), open_part(new_shares, fresh_));
  }

  // 0: they don't fit.
  double Score(KeyId gone_key, const Function& gone, KeyId fresh_key, const Function& fresh) const {
    const double callers = Common(gone.callers, fresh.callers);
    if (callers < kSameCallers) return 0;
    const double size = std::min(Ratio(gone.total.bytes, fresh.total.bytes),
                                 Ratio(gone.total.allocations, fresh.total.allocations));
    const double callees = CommonCallees(gone.callees, fresh.callees);
    const bool same_name =
        LastName(keys_[gone_key].function) == LastName(keys_[fresh_key].function);
    if (!same_name && (size < kSameSize || callees < kSameCallees)) return 0;
    return (same_name ? 3 : 0) + callers + size + callees;
  }

  bool Round() {
    // Candidates share a caller, so that not every gone function meets every new one.
    std::map<KeyId, std::vector<KeyId>> fresh_by_caller;
    for (const auto& [key, function] : fresh_) {
      for (const auto& [caller, share] : function.callers) fresh_by_caller[caller].push_back(key);
    }
    std::map<KeyId, Candidate> for_gone, for_fresh;
    for (const auto& [gone_key, gone] : gone_) {
      std::vector<KeyId> near;
      for (const auto& [caller, share] : gone.callers) {
        const auto paired = pairs_.find(caller);
        const auto at = fresh_by_caller.find(paired == pairs_.end() ? caller : paired->second);
        if (at != fresh_by_caller.end())
          near.insert(near.end(), at->second.begin(), at->second.end());
      }
      std::sort(near.begin(), near.end());
      near.erase(std::unique(near.begin(), near.end()), near.end());
      for (const KeyId fresh_key : near) {
        const double score = Score(gone_key, gone, fresh_key, fresh_.at(fresh_key));
        if (score == 0) continue;
        for_gone[gone_key].Offer(fresh_key, score);
        for_fresh[fresh_key].Offer(gone_key, score);
      }
    }
    bool any = false;
    for (const auto& [gone_key, candidate] : for_gone) {
      const Candidate& back = for_fresh.at(candidate.other);
      if (!candidate.clear() || !back.clear() || back.other != gone_key) continue;
      pairs_.emplace(gone_key, candidate.other);
      gone_.erase(gone_key);
      fresh_.erase(candidate.other);
      any = true;
    }
    return any;
  }

  Keys keys_;
  std::map<KeyId, Function> gone_, fresh_;  // those that aren't paired yet
  std::map<KeyId, KeyId> pairs_;            // from the name before to the one after
};

uint32_t ModuleAt(const std::string& path, Profile& profile) {
  const auto at = std::find_if(profile.modules.begin(), profile.modules.end(),
                               [&](const SnapshotModule& module) { return module.path == path; });
  if (at != profile.modules.end()) return static_cast<uint32_t>(at - profile.modules.begin());
  profile.modules.push_back({path, ""});
  return static_cast<uint32_t>(profile.modules.size() - 1);
}

}  // namespace

std::vector<RenamedFunction> FindRenamedFunctions(const Profile& before, const Profile& after) {
  Pairing pairing(before, after);
  const std::map<KeyId, KeyId> pairs = pairing.Find();
  std::map<SymbolKey, const ProfileFrame*> later;
  if (!pairs.empty()) {
    for (const ProfileFrame& frame : after.frames) later.emplace(SymbolKeyOf(after, frame), &frame);
  }
  std::vector<RenamedFunction> renamed;
  for (const auto& [old_key, new_key] : pairs) {
    const ProfileFrame& frame = *later.at(pairing.keys()[new_key]);
    renamed.push_back({pairing.keys()[old_key], pairing.keys()[new_key], frame.function,
                       after.modules[frame.module].path});
  }
  std::sort(renamed.begin(), renamed.end(),
            [](const RenamedFunction& a, const RenamedFunction& b) { return a.before < b.before; });
  return renamed;
}

void ApplyLaterNames(const std::vector<RenamedFunction>& renamed, Profile& before) {
  if (renamed.empty()) return;
  std::map<SymbolKey, const RenamedFunction*> by_name;
  for (const RenamedFunction& function : renamed) by_name.emplace(function.before, &function);
  for (ProfileFrame& frame : before.frames) {
    const auto at = by_name.find(SymbolKeyOf(before, frame));
    if (at == by_name.end()) continue;
    const RenamedFunction& function = *at->second;
    frame.function = function.function;
    if (function.before.module != function.after.module) {
      frame.module = ModuleAt(function.module_path, before);
    }
  }
}

std::string RenamedNote(const std::vector<RenamedFunction>& renamed) {
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t i = 0; i < renamed.size() && i < kNamed; ++i) {
    const auto& [before, after, function, path] = renamed[i];
    if (i > 0) text += "; ";
    if (before.module == after.module) {
      text += fmt::format("{} is now {}", before.function, after.function);
    } else {
      text += fmt::format("{} of {} is now {} of {}", before.function, before.module,
                          after.function, after.module);
    }
  }
  if (renamed.size() > kNamed) text += fmt::format("; and {} others", renamed.size() - kNamed);
  return text.empty() ? text : text + " (paired by callers and size)";
}

}  // namespace memprof
