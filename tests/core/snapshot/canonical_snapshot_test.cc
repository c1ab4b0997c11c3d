#include "core/snapshot/canonical_snapshot.h"

#include <gtest/gtest.h>

#include <utility>

namespace memprof {
namespace {

// main calls f and g, which allocate; a third module, frame and thread have no figure.
Snapshot Demo() {
  Snapshot s;
  s.modules = {{"/bin/demo", "aa"}, {"/lib/unused.so", "bb"}};
  s.frames = {{0, 0x10}, {0, 0x20}, {0, 0x30}, {1, 0x40}};
  s.nodes = {{0, 0}, {0, 0}, {1, 1}, {1, 2}, {1, 3}};
  s.thread_names = {"main", "idle"};
  s.sites = {{2, 0, {100, 1}, {0, 0}, {100, 1}},
             {3, 0, {50, 2}, {50, 2}, {70, 3}},
             {4, 1, {0, 0}, {0, 0}, {0, 0}}};
  s.moments = {16, {{16, false}}};
  s.sites[0].history = {{0, {100, 1}}};
  return s;
}

// The same profile, in which g comes first and a node of f stands twice.
Snapshot Shuffled() {
  Snapshot s = Demo();
  s.frames = {{0, 0x30}, {0, 0x20}, {0, 0x10}};
  s.nodes = {{0, 0}, {0, 2}, {1, 0}, {1, 1}, {1, 1}};
  s.sites = {{2, 0, {50, 2}, {50, 2}, {70, 3}},
             {3, 0, {60, 1}, {0, 0}, {60, 1}},
             {4, 0, {40, 0}, {0, 0}, {40, 0}}};
  s.sites[2].history = {{0, {100, 1}}};
  return s;
}

TEST(CanonicalSnapshot, IsTheSameWhateverTheOrderWas) {
  EXPECT_EQ(*Canonical(Shuffled()), *Canonical(Demo()));
}

TEST(CanonicalSnapshot, IsInOrderAlready) {
  const CanonicalSnapshot once = Canonical(Shuffled());
  EXPECT_EQ(*Canonical(*once), *once);
}

TEST(CanonicalSnapshot, DropsWhatNoFigureRefersTo) {
  const CanonicalSnapshot s = Canonical(Demo());
  EXPECT_EQ(s->modules.size(), 1u);
  EXPECT_EQ(s->frames.size(), 3u);
  EXPECT_EQ(s->nodes.size(), 4u);
  EXPECT_EQ(s->thread_names, std::vector<std::string>{"main"});
  EXPECT_EQ(s->sites.size(), 2u);
}

TEST(CanonicalSnapshot, KeepsEveryFigure) {
  const CanonicalSnapshot s = Canonical(Shuffled());
  EXPECT_EQ(SumPeak(s), SumPeak(Shuffled()));
  EXPECT_EQ(SumLeaked(s), SumLeaked(Shuffled()));
  EXPECT_EQ(SumTotal(s), SumTotal(Shuffled()));
}

TEST(CanonicalSnapshot, GivesItsContentAwayWithoutACopy) {
  CanonicalSnapshot s = Canonical(Demo());
  const SnapshotSite* const sites = s->sites.data();
  const Snapshot taken = std::move(s).Take();
  EXPECT_EQ(taken.sites.data(), sites);
}

}  // namespace
}  // namespace memprof
