#include "cli/scope_stacks/scope_stacks_input.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace memprof {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;

// Adds a stack's frames, outermost first, each path once, and returns the leaf's node.
class CallTree {
 public:
  explicit CallTree(Snapshot& snapshot) : snapshot_(snapshot) { snapshot_.nodes.push_back({}); }

  uint32_t Add(const json& frames) {
    uint32_t node = 0;
    for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
      const auto module = at->at(0).get<int64_t>();
      if (module >= static_cast<int64_t>(snapshot_.modules.size())) {
        throw json::other_error::create(0, fmt::format("no module {}", module), &frames);
      }
      const auto offset = at->at(1).get<uint64_t>();
      node = Child(node, {module < 0 ? kNoModule : static_cast<uint32_t>(module), offset});
    }
    return node;
  }

 private:
  uint32_t Child(uint32_t parent, const SnapshotFrame& frame) {
    const auto [known, fresh] = frames_.emplace(std::pair(frame.module, frame.offset),
                                                static_cast<uint32_t>(snapshot_.frames.size()));
    if (fresh) snapshot_.frames.push_back(frame);
    const auto [child, grown] = nodes_.emplace(std::pair(parent, known->second),
                                               static_cast<uint32_t>(snapshot_.nodes.size()));
    if (grown) snapshot_.nodes.push_back({parent, known->second});
    return child->second;
  }

  Snapshot& snapshot_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> frames_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes_;
};

uint64_t NoLess(int64_t value) { return value < 0 ? 0 : static_cast<uint64_t>(value); }

ScopeStacksInput Read(const json& root) {
  ScopeStacksInput input;
  if (root.at("schema").get<int>() != kSchema) {
    throw json::other_error::create(
        0,
        fmt::format("schema {}, and this memprof reads {}; its headers are of another version",
                    root.at("schema").dump(), kSchema),
        &root);
  }
  input.by_blocks = root.at("unit").get<std::string>() == "blocks";
  input.leaks = root.at("leaks").get<bool>();
  input.except = root.at("except").get<std::string>();
  input.except_library = root.at("except_library").get<std::string>();
  for (const json& module : root.at("modules")) {
    input.snapshot.modules.push_back(
        {module.at("path").get<std::string>(), module.at("build_id").get<std::string>()});
  }
  input.snapshot.thread_names.emplace_back();
  CallTree tree(input.snapshot);
  for (const json& stack : root.at("stacks")) {
    const ScopeStacksInput::Weight weight = {stack.at("bytes").get<int64_t>(),
                                             stack.at("blocks").get<int64_t>()};
    SnapshotSite site;
    site.node = tree.Add(stack.at("frames"));
    site.total = site.leaked = {NoLess(weight.bytes), NoLess(weight.blocks)};
    input.snapshot.sites.push_back(site);
    input.weights.push_back(weight);
  }
  return input;
}

}  // namespace

Result<ScopeStacksInput> ReadScopeStacks(std::string_view text) {
  try {
    return Read(json::parse(text));
  } catch (const json::exception& error) {
    return Fail(ErrorKind::kUnreadable, fmt::format("no stacks of a scope: {}", error.what()));
  }
}

}  // namespace memprof
