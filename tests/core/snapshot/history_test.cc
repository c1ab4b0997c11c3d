#include "core/snapshot/history.h"

#include <gtest/gtest.h>

#include <random>

namespace memprof {
namespace {

constexpr uint32_t kMoments = 20;

// As many figures as moments, and the history that says the same.
std::vector<Count> Figures(std::mt19937& random) {
  std::vector<Count> figures(kMoments);
  Count live;
  for (Count& figure : figures) {
    if (random() % 3 == 0) live = {random() % 3, random() % 2};
    figure = live;
  }
  return figures;
}

LiveHistory HistoryOf(const std::vector<Count>& figures) {
  LiveHistory history;
  Count before;
  for (uint32_t i = 0; i < figures.size(); ++i) {
    if (figures[i] != before) history.push_back({i, figures[i]});
    before = figures[i];
  }
  return history;
}

TEST(History, SaysWhatWasLiveAtEveryMoment) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    const auto figures = Figures(random);
    for (uint32_t i = 0; i < kMoments; ++i) EXPECT_EQ(LiveAt(HistoryOf(figures), i), figures[i]);
  }
}

TEST(History, OfTwoIsTheSumAtEveryMomentAndRepeatsNothing) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const auto a = Figures(random), b = Figures(random);
    std::vector<Count> both = a;
    for (uint32_t i = 0; i < kMoments; ++i) both[i] += b[i];
    EXPECT_EQ(SumOf(HistoryOf(a), HistoryOf(b)), HistoryOf(both));
  }
}

TEST(History, OfEverySecondMomentHasWhatWasLiveAtThose) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    auto figures = Figures(random);
    figures.resize(kMoments - static_cast<size_t>(round % 2));
    std::vector<Count> half;
    for (size_t i = 0; i < figures.size(); i += 2) half.push_back(figures[i]);
    EXPECT_EQ(EverySecond(HistoryOf(figures), figures.size()), HistoryOf(half));
  }
}

TEST(MomentName, IsWhatCanFollowAnAtSign) {
  EXPECT_EQ(MomentName("after load", {}), "after load");
  EXPECT_EQ(MomentName("a/b@c\n", {}), "a_b_c_");
  EXPECT_EQ(MomentName("", {}), "_");
  EXPECT_EQ(MomentName("end", {}), "end.2");
  EXPECT_TRUE(IsMomentName(MomentName(std::string(500, 'x'), {})));
  for (const char* wrong : {"", "a/b", "a@b", "a\tb", "\x7f"}) EXPECT_FALSE(IsMomentName(wrong));
}

TEST(MomentName, IsNeverThereTwice) {
  std::vector<NamedMoment> taken;
  for (int i = 0; i < 3; ++i) taken.push_back({MomentName("warm", taken), 0, false});
  EXPECT_EQ(taken[0].name, "warm");
  EXPECT_EQ(taken[1].name, "warm.2");
  EXPECT_EQ(taken[2].name, "warm.3");
}

}  // namespace
}  // namespace memprof
