#include "cli/scope_stacks/scope_stacks_input.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/tree/interned_tree.h"

namespace memprof {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;

// Collects the stacks' frames and nodes, each path once.
class Stacks {
 public:
  explicit Stacks(size_t modules) : modules_(modules) {}

  // Adds a stack, innermost frame first; returns its leaf's node.
  uint32_t Add(const json& frames) {
    uint32_t node = 0;
    for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
      const auto module = at->at(0).get<int64_t>();
      if (module >= static_cast<int64_t>(modules_)) {
        throw json::other_error::create(0, fmt::format("no module {}", module), &frames);
      }
      const auto offset = at->at(1).get<uint64_t>();
      node = tree_.Child(node,
                         Frame({module < 0 ? kNoModule : static_cast<uint32_t>(module), offset}));
    }
    return node;
  }

  void MoveTo(Snapshot& snapshot) && {
    snapshot.frames = std::move(frames_);
    snapshot.nodes = std::move(tree_).Take();
  }

 private:
  uint32_t Frame(const SnapshotFrame& frame) {
    const auto [known, fresh] = frame_ids_.emplace(std::pair(frame.module, frame.offset),
                                                   static_cast<uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(frame);
    return known->second;
  }

  const size_t modules_;
  std::vector<SnapshotFrame> frames_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> frame_ids_;
  InternedTree<SnapshotNode> tree_;
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
  input.net = root.value("net", false);
  input.except = root.at("except").get<std::string>();
  input.except_library = root.at("except_library").get<std::string>();
  for (const json& module : root.at("modules")) {
    input.snapshot.modules.push_back(
        {module.at("path").get<std::string>(), module.at("build_id").get<std::string>()});
  }
  input.snapshot.thread_names.emplace_back();
  Stacks stacks(input.snapshot.modules.size());
  for (const json& stack : root.at("stacks")) {
    const ScopeStacksInput::Weight weight = {stack.at("bytes").get<int64_t>(),
                                             stack.at("blocks").get<int64_t>()};
    SnapshotSite site;
    site.node = stacks.Add(stack.at("frames"));
    site.total = site.leaked = {NoLess(weight.bytes), NoLess(weight.blocks)};
    input.snapshot.sites.push_back(site);
    input.weights.push_back(weight);
  }
  std::move(stacks).MoveTo(input.snapshot);
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
