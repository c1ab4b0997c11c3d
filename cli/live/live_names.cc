#include "cli/live/live_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <tuple>

#include "core/base_name.h"

namespace memprof {
namespace {

// The view may show names after each batch.
constexpr size_t kBatch = 500;

}  // namespace

bool LiveNames::Before::operator()(const Key& a, const Key& b) const {
  return std::tie(a.first.path, a.first.build_id, a.second) <
         std::tie(b.first.path, b.first.build_id, b.second);
}

LiveNames::LiveNames(std::unique_ptr<Symbolizer> finds) : finds_(std::move(finds)) {
  try {
    thread_ = std::thread([this] { Find(); });
  } catch (const std::system_error&) {
    // Resolve finds them.
  }
}

LiveNames::~LiveNames() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    wanted_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

LiveNames::Key LiveNames::KeyOf(std::span<const SnapshotModule> modules,
                                const SnapshotFrame& frame) {
  return {frame.module < modules.size() ? modules[frame.module] : SnapshotModule{}, frame.offset};
}

SourceChain LiveNames::Placeholder(const Key& key) {
  const std::string_view module = BaseName(key.first.path);
  return {{module.empty() ? fmt::format("{:#x}", key.second)
                          : fmt::format("{}+{:#x}", module, key.second),
           "", 0, false}};
}

std::vector<SourceChain> LiveNames::Resolve(std::span<const SnapshotModule> modules,
                                            std::span<const SnapshotFrame> frames) {
  std::vector<SourceChain> chains = Found(modules, frames);
  for (size_t i = 0; i < chains.size(); ++i) {
    if (chains[i].empty()) chains[i] = Placeholder(KeyOf(modules, frames[i]));
  }
  return chains;
}

std::vector<SourceChain> LiveNames::Found(std::span<const SnapshotModule> modules,
                                          std::span<const SnapshotFrame> frames) {
  if (!thread_.joinable()) return finds_->Resolve(modules, frames);
  std::vector<SourceChain> chains;
  chains.reserve(frames.size());
  {
    const MutexLock lock(mutex_);
    for (const SnapshotFrame& frame : frames) {
      Key key = KeyOf(modules, frame);
      const auto [at, is_new] = known_.try_emplace(key);
      chains.push_back(at->second);
      if (is_new) wanted_.push_back(std::move(key));
    }
  }
  changed_.notify_all();
  return chains;
}

void LiveNames::Learn(std::span<const SnapshotModule> modules,
                      std::span<const SnapshotFrame> frames,
                      const std::vector<SourceChain>& chains) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].module >= modules.size()) continue;
    Key key = {modules[frames[i].module], frames[i].offset};
    const bool named = i < chains.size() && !chains[i].empty();
    SourceChain chain = named ? chains[i] : Placeholder(key);
    known_[std::move(key)] = std::move(chain);
  }
}

bool LiveNames::Wait(std::chrono::steady_clock::time_point until) {
  if (!thread_.joinable()) return true;
  mutex_.lock();
  while ((!wanted_.empty() || busy_) && std::chrono::steady_clock::now() < until) {
    if (until == std::chrono::steady_clock::time_point::max()) {
      changed_.wait(mutex_);
    } else {
      changed_.wait_until(mutex_, until);
    }
  }
  const bool all_known = wanted_.empty() && !busy_;
  mutex_.unlock();
  return all_known;
}

uint64_t LiveNames::found() {
  const MutexLock lock(mutex_);
  return found_;
}

bool LiveNames::AreWanted() {
  const MutexLock lock(mutex_);
  return !wanted_.empty() || busy_;
}

void LiveNames::Find() {
  for (;;) {
    std::vector<Key> keys;
    mutex_.lock();
    while (wanted_.empty() && !ending_) changed_.wait(mutex_);
    const bool ending = ending_;
    const size_t count = std::min(kBatch, wanted_.size());
    keys.assign(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(count));
    wanted_.erase(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(count));
    busy_ = !keys.empty();
    mutex_.unlock();
    if (ending) return;

    std::vector<SnapshotModule> modules;
    std::vector<SnapshotFrame> frames;
    for (const Key& key : keys) {
      const auto at = std::find(modules.begin(), modules.end(), key.first);
      uint32_t module = kNoModule;
      if (!key.first.path.empty()) {
        module = static_cast<uint32_t>(at - modules.begin());
        if (at == modules.end()) modules.push_back(key.first);
      }
      frames.push_back({module, key.second});
    }
    std::vector<SourceChain> chains = finds_->Resolve(modules, frames);
    {
      const MutexLock lock(mutex_);
      for (size_t i = 0; i < keys.size(); ++i) known_[keys[i]] = std::move(chains[i]);
      found_ += keys.size();
      busy_ = false;
    }
    changed_.notify_all();
  }
}

}  // namespace memprof
