#include "cli/live/live_names.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace memprof {
namespace {

// Names frames when it is let.
class Gate {
 public:
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class Slow : public Symbolizer {
 public:
  Slow(Gate& gate, int& asked) : gate_(gate), asked_(asked) {}
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule>,
                                   std::span<const SnapshotFrame> frames) override {
    gate_.Pass();
    std::vector<SourceChain> chains;
    for (const SnapshotFrame& frame : frames) {
      chains.push_back({{"f" + std::to_string(frame.offset), "f.cc", 1, false}});
      ++asked_;
    }
    return chains;
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  Gate& gate_;
  int& asked_;
  std::vector<std::string> notes_;
};

const std::vector<SnapshotModule> kModules = {{"/x/demo", ""}};

TEST(LiveNames, AreAddressesUntilTheyAreFound) {
  Gate gate;
  int asked = 0;
  LiveNames names(std::make_unique<Slow>(gate, asked));
  const std::vector<SnapshotFrame> frames = {{0, 16}, {0, 32}, {0, 16}};
  EXPECT_EQ(names.Resolve(kModules, frames)[0][0].function, "demo+0x10");
  gate.Open();
  names.Wait();
  const auto chains = names.Resolve(kModules, frames);
  EXPECT_EQ(chains[0][0].function, "f16");
  EXPECT_EQ(chains[1][0].function, "f32");
  EXPECT_EQ(chains[2][0].function, "f16");
  EXPECT_EQ(asked, 2);
}

TEST(LiveNames, AreWaitedForUntilAMoment) {
  Gate gate;
  int asked = 0;
  LiveNames names(std::make_unique<Slow>(gate, asked));
  const std::vector<SnapshotFrame> frames = {{0, 16}};
  EXPECT_TRUE(names.Found(kModules, frames)[0].empty());
  EXPECT_FALSE(names.Wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
  EXPECT_TRUE(names.Found(kModules, frames)[0].empty());
  gate.Open();
  EXPECT_TRUE(names.Wait());
  EXPECT_EQ(names.Found(kModules, frames)[0][0].function, "f16");
}

TEST(LiveNames, MayBeLeftWithoutThem) {
  Gate gate;
  int asked = 0;
  {
    LiveNames names(std::make_unique<Slow>(gate, asked));
    names.Resolve(kModules, std::vector<SnapshotFrame>{{0, 16}});
    gate.Open();
  }
  EXPECT_LE(asked, 1);
}

}  // namespace
}  // namespace memprof
