#include "core/budget/site_pattern.h"

#include <algorithm>
#include <string_view>

#include "core/profile/function_name.h"
#include "core/profile/location.h"
#include "core/profile/symbol_key.h"

namespace memprof {
namespace {

struct Key {
  const char* name;
  std::vector<Pattern> SitePattern::*patterns;
};
constexpr Key kKeys[] = {{"function", &SitePattern::functions},
                         {"namespace", &SitePattern::namespaces},
                         {"source", &SitePattern::sources},
                         {"module", &SitePattern::modules},
                         {"thread", &SitePattern::threads}};

bool AnyMatches(const std::vector<Pattern>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& pattern) { return pattern.Matches(name); });
}

bool HasFramePatterns(const SitePattern& pattern) {
  return !pattern.functions.empty() || !pattern.namespaces.empty() || !pattern.sources.empty() ||
         !pattern.modules.empty();
}

bool MatchesFunction(const SitePattern& pattern, const std::string& function) {
  if (pattern.functions.empty() && pattern.namespaces.empty()) return true;
  const std::string_view name = QualifiedName(function);
  if (!pattern.functions.empty() && !AnyMatches(pattern.functions, function) &&
      !AnyMatches(pattern.functions, name)) {
    return false;
  }
  if (pattern.namespaces.empty()) return true;
  const std::vector<std::string_view> scopes = EnclosingScopes(name);
  return std::any_of(scopes.begin(), scopes.end(),
                     [&](std::string_view scope) { return AnyMatches(pattern.namespaces, scope); });
}

bool MatchesFrame(const Profile& profile, const ProfileFrame& frame, const SitePattern& pattern) {
  const std::string path =
      frame.module < profile.modules.size() ? profile.modules[frame.module].path : std::string();
  if (!pattern.sources.empty() && !AnyMatches(pattern.sources, frame.file)) return false;
  if (!pattern.modules.empty() && !AnyMatches(pattern.modules, path) &&
      !AnyMatches(pattern.modules, ModuleKey(path, profile.program.program))) {
    return false;
  }
  return MatchesFunction(pattern, FunctionKey(frame.function, path));
}

// For each node: whether it or a node outwards of it has a frame that matches.
std::vector<bool> MatchingNodes(const Profile& profile, const std::vector<bool>& frames,
                                Where where) {
  std::vector<bool> nodes(profile.nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    const ProfileNode& node = profile.nodes[i];
    nodes[i] = frames[node.frame] || (where == Where::kAny && nodes[node.parent]);
  }
  return nodes;
}

}  // namespace

bool IsEmpty(const SitePattern& pattern) {
  return !HasFramePatterns(pattern) && pattern.threads.empty();
}

bool IsOfNames(const SitePattern& pattern) {
  return !pattern.functions.empty() || !pattern.namespaces.empty() || !pattern.sources.empty();
}

bool LacksNames(const Profile& profile) {
  size_t own = 0;
  size_t nameless = 0;
  for (const ProfileFrame& frame : profile.frames) {
    const SymbolKey key = SymbolKeyOf(profile, frame);
    if (key.module != kProgramModule) continue;
    ++own;
    nameless += key.function == kNoSymbol;
  }
  return 2 * nameless > own;
}

std::string Describe(const SitePattern& pattern) {
  std::string text;
  for (const Key& key : kKeys) {
    const std::vector<Pattern>& patterns = pattern.*key.patterns;
    if (patterns.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::string(key.name) + " ";
    for (const Pattern& one : patterns) text += (&one == &patterns[0] ? "" : " or ") + one.text();
  }
  return text;
}

std::vector<bool> MatchingSites(const Profile& profile, const SitePattern& pattern) {
  std::vector<bool> nodes;
  if (HasFramePatterns(pattern)) {
    std::vector<bool> frames;
    frames.reserve(profile.frames.size());
    for (const ProfileFrame& frame : profile.frames) {
      frames.push_back(MatchesFrame(profile, frame, pattern));
    }
    nodes = MatchingNodes(profile, frames, pattern.where);
  }
  std::vector<bool> threads;
  for (const std::string& name : profile.thread_names) {
    threads.push_back(pattern.threads.empty() || AnyMatches(pattern.threads, name));
  }
  std::vector<bool> sites;
  sites.reserve(profile.sites.size());
  for (const ProfileSite& site : profile.sites) {
    const uint32_t node = pattern.where == Where::kAny ? site.node : LocationOf(profile, site);
    sites.push_back((nodes.empty() || nodes[node]) && threads[site.thread_name]);
  }
  return sites;
}

}  // namespace memprof
