#include "cli/run/tree/children_area_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace memprof {
namespace {

using Owns = ChildrenAreaFile::Owns;

class ChildrenAreaFileTest : public testing::Test {
 protected:
  ChildrenAreaFileTest() : area_(std::move(*ChildrenAreaFile::Make(4))) {
    header_ = static_cast<ChildrenHeader*>(
        mmap(nullptr, area_.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, area_.fd(), 0));
  }
  ~ChildrenAreaFileTest() override { munmap(header_, area_.bytes()); }

  unsigned char* GuardOf(uint32_t slot) {
    return reinterpret_cast<unsigned char*>(header_) + OffsetOfSlot(*header_, slot);
  }
  // What a child does (aggregator/fork/child_slot.cc).
  void Claim(uint32_t slot, uint32_t pid, TrackerState state) {
    header_->claims[slot].owner = pid;
    ++header_->claimed;
    auto* region = reinterpret_cast<RegionHeader*>(GuardOf(slot) + kPageBytes);
    LayOutRegion(*region, kChildRegionBudget);
    region->state = static_cast<uint32_t>(state);
  }

  ChildrenAreaFile area_;
  ChildrenHeader* header_;
};

TEST_F(ChildrenAreaFileTest, TellsOfEachClaimOnce) {
  EXPECT_TRUE(area_.NewClaims().empty());
  Claim(2, 4711, TrackerState::kCounting);
  const auto claims = area_.NewClaims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].slot, 2u);
  EXPECT_EQ(claims[0].pid, 4711u);
  EXPECT_TRUE(area_.NewClaims().empty());
}

TEST_F(ChildrenAreaFileTest, WaitsForAChildThatIsSettingItsSlotUp) {
  Claim(0, static_cast<uint32_t>(getpid()), TrackerState::kEmpty);
  EXPECT_TRUE(area_.NewClaims().empty());
  Claim(0, static_cast<uint32_t>(getpid()), TrackerState::kCounting);
  EXPECT_EQ(area_.NewClaims().size(), 1u);
}

TEST_F(ChildrenAreaFileTest, FreesTheSlotOfAChildThatDiedWhileItSetItUp) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  Claim(0, static_cast<uint32_t>(child), TrackerState::kEmpty);
  EXPECT_TRUE(area_.NewClaims().empty());
  EXPECT_EQ(header_->claims[0].owner, 0u);
}

TEST_F(ChildrenAreaFileTest, GivesAFreedSlotsMemoryBackAndTellsOfItsNextClaim) {
  Claim(1, 4711, TrackerState::kCounting);
  const ImageId first = area_.NewClaims().at(0).image;
  struct stat before, after;
  fstat(area_.fd(), &before);
  area_.Free(1);
  fstat(area_.fd(), &after);
  EXPECT_LT(after.st_blocks, before.st_blocks);
  EXPECT_EQ(header_->claims[1].owner, 0u);
  Claim(1, 4712, TrackerState::kCounting);
  const auto next = area_.NewClaims();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_NE(next[0].image, first);
}

TEST_F(ChildrenAreaFileTest, KnowsByTheGuardPageWhoHasASlot) {
  EXPECT_EQ(area_.Has(getpid(), 3), Owns::kNo);
  EXPECT_TRUE(area_.IsMappedBy(getpid()));
  mprotect(GuardOf(3), kPageBytes, PROT_NONE);
  EXPECT_EQ(area_.Has(getpid(), 3), Owns::kYes);
  EXPECT_EQ(area_.Has(getpid(), 2), Owns::kNo);
  EXPECT_EQ(area_.FindOwner(3), std::pair(Owns::kYes, getpid()));
  EXPECT_NE(area_.FindOwner(2).first, Owns::kYes);  // somebody may not be asked
}

}  // namespace
}  // namespace memprof
