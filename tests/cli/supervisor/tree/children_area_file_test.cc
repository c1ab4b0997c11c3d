#include "cli/supervisor/tree/children_area_file.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>

#include "cli/basics/process_facts.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/tree/slot_owners.h"

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
    return reinterpret_cast<unsigned char*>(header_) + layout_.OffsetOf(slot);
  }
  // The steps of a child (aggregator/fork/child_slot.cc).
  void Claim(uint32_t slot, uint32_t pid, TrackerState state) {
    header_->claims[slot].owner = pid;
    ++header_->claimed;
    RegionHeader* region = RegionIn(slot);
    LayOutRegion(*region, kChildRegionBudget);
    region->state = static_cast<uint32_t>(state);
  }

  RegionHeader* RegionIn(uint32_t slot) {
    return reinterpret_cast<RegionHeader*>(GuardOf(slot) + kPageBytes);
  }

  const ChildrenLayout layout_ = LayOutChildren(4);
  ChildrenAreaFile area_;
  ChildrenHeader* header_;
};

// So that a child's tables are full no sooner than its parent's.
TEST(ChildrenLayout, GivesAChildARegionOfTheProgramsOwnSize) {
  const auto program = RegionFile::InMemory();
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(LayOutChildren(kMaxChildSlots).slot_bytes, kPageBytes + program->bytes());
}

TEST(ChildrenAreaFile, HasSmallerSlotsAndThenFewerBehindALimitOnFiles) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const uint64_t few = LayOutChildren(3, kSmallestChildBudget).bytes();
  const rlimit small = {few, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  signal(SIGXFSZ, SIG_IGN);
  const auto area = ChildrenAreaFile::Make(4);
  setrlimit(RLIMIT_FSIZE, &limit);
  ASSERT_TRUE(area.has_value()) << area.error().message;
  EXPECT_EQ(area->bytes(), LayOutChildren(2, kSmallestChildBudget).bytes());
  EXPECT_EQ(area->RegionOf(1).bytes,
            LayOutChildren(1, kSmallestChildBudget).slot_bytes - kPageBytes);
}

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

// The pid may be anybody's here, and the child is setting its slot up.
TEST_F(ChildrenAreaFileTest, FreesNoSlotOfAChildOfAnotherNamespaceWhoseNumberIsNobodysHere) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const auto pid = static_cast<uint32_t>(child);
  Claim(0, pid | kForeignPid, TrackerState::kEmpty);
  EXPECT_TRUE(area_.NewClaims().empty());
  EXPECT_EQ(header_->claims[0].owner, pid | kForeignPid);
  Claim(0, pid | kForeignPid, TrackerState::kCounting);
  const auto claims = area_.NewClaims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].pid, pid);
  EXPECT_TRUE(claims[0].foreign_pids);
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

// The following tests are of a hostile child: it has all of the area mapped, as we do.

TEST_F(ChildrenAreaFileTest, BelievesNothingThatTheAreaSaysOfItsLayout) {
  Claim(1, 4711, TrackerState::kCounting);
  header_->layout = {~0u, 0x7fffffffu, uint64_t{1} << 40, uint64_t{1} << 60};
  EXPECT_EQ(area_.NewClaims().size(), 1u);
  EXPECT_EQ(area_.RegionOf(3).offset, layout_.OffsetOf(3) + kPageBytes);
  EXPECT_EQ(area_.RegionOf(3).bytes, layout_.slot_bytes - kPageBytes);
  mprotect(GuardOf(3), kPageBytes, PROT_READ);
  EXPECT_EQ(area_.Has(getpid(), 3), Owns::kYes);
  struct stat before, after;
  fstat(area_.fd(), &before);
  area_.Free(1);
  fstat(area_.fd(), &after);
  EXPECT_LT(after.st_blocks, before.st_blocks);
  EXPECT_EQ(header_->claims[1].owner, 0u);
}

TEST_F(ChildrenAreaFileTest, TellsOfASlotOnceUntilItIsFreedWhateverItsClaimSays) {
  Claim(1, 4711, TrackerState::kCounting);
  EXPECT_EQ(area_.NewClaims().size(), 1u);
  for (uint32_t i = 0; i < 10; ++i) {
    header_->claims[1].generation = 100 + i;
    header_->claims[1].owner = 0;
    ++header_->claimed;
    EXPECT_TRUE(area_.NewClaims().empty());
    header_->claims[1].owner = 4712 + i;
    ++header_->claimed;
    EXPECT_TRUE(area_.NewClaims().empty());
  }
  area_.Free(1);
  Claim(1, 4711, TrackerState::kCounting);
  EXPECT_EQ(area_.NewClaims().at(0).image, ImageOfSlot(1, 1));
}

TEST_F(ChildrenAreaFileTest, AChildBeganNeitherBeforeTheAreaWasMadeNorAfterNow) {
  const uint64_t starts[] = {1, ~uint64_t{0}, uint64_t{1} << 63, (uint64_t{1} << 63) - 1};
  for (uint32_t slot = 0; slot < 4; ++slot) {
    Claim(slot, 4711, TrackerState::kCounting);
    RegionIn(slot)->started_ns = starts[slot];
  }
  const auto claims = area_.NewClaims();
  const auto now = std::chrono::steady_clock::now();
  ASSERT_EQ(claims.size(), 4u);
  for (const auto& claim : claims) {
    EXPECT_LE(claim.start, now);
    EXPECT_GE(claim.start, now - std::chrono::minutes(1));
  }
}

TEST_F(ChildrenAreaFileTest, AskedAboutAPidThatIsNoneOnlyNothingIsFreed) {
  Claim(0, static_cast<uint32_t>(-1), TrackerState::kEmpty);
  Claim(1, static_cast<uint32_t>(-getpid()), TrackerState::kEmpty);
  EXPECT_TRUE(area_.NewClaims().empty());
  EXPECT_NE(header_->claims[0].owner, 0u);
  EXPECT_NE(header_->claims[1].owner, 0u);
}

TEST_F(ChildrenAreaFileTest, KnowsByTheGuardPageWhoHasASlot) {
  EXPECT_EQ(area_.Has(getpid(), 3), Owns::kNo);
  EXPECT_TRUE(area_.IsMappedBy(getpid()));
  mprotect(GuardOf(3), kPageBytes, PROT_READ);
  EXPECT_EQ(area_.Has(getpid(), 3), Owns::kYes);
  EXPECT_EQ(area_.Has(getpid(), 2), Owns::kNo);
}

// A child that shows a slot's guard page, until it is destroyed.
class Holder {
 public:
  explicit Holder(unsigned char* guard) : pid_(fork()) {
    if (pid_ != 0) return;
    mprotect(guard, kPageBytes, PROT_READ);
    for (;;) pause();
  }
  ~Holder() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool Waits(const ChildrenAreaFile& area, uint32_t slot) const {
    for (int i = 0; i < 1000 && area.Has(pid_, slot) != Owns::kYes; ++i) usleep(5000);
    return area.Has(pid_, slot) == Owns::kYes;
  }

 private:
  const pid_t pid_;
};

TEST_F(ChildrenAreaFileTest, ASearchFindsWhoHasASlotByItsOwnPidAndItsGuardPage) {
  const Holder holder(GuardOf(2));
  ASSERT_TRUE(holder.Waits(area_, 2));
  const auto pid = static_cast<uint32_t>(holder.pid());
  const auto claim = [&](uint32_t slot, uint32_t claimed) {
    return SlotClaim{&area_, {slot, claimed, true, 0, 0, {}}};
  };
  // Above what the kernel gives (PID_MAX_LIMIT): the next pid may be that of a stranger who is just
  // ending and can't be asked.
  constexpr uint32_t kNobody = 1u << 23;
  const auto owners = FindSlotOwners({claim(2, pid), claim(1, pid), claim(2, kNobody),
                                      claim(2, kUnknownPid), claim(2, 2), claim(0, 2)},
                                     0);
  EXPECT_EQ(owners[0].owns, Owns::kYes);
  EXPECT_EQ(owners[0].pid, holder.pid());
  EXPECT_EQ(owners[1].owns, Owns::kNo);
  EXPECT_EQ(owners[2].owns, Owns::kNo);
  EXPECT_EQ(owners[3].pid, holder.pid());
  // Process 2 is the kernel's, wherever one is seen.
  EXPECT_EQ(owners[4].owns, Owns::kNo);
  EXPECT_EQ(owners[5].owns, Owns::kNo);
}

// It has the guard page and counts on another thread; its main thread is a zombie without mappings.
class WithoutMainThread {
 public:
  explicit WithoutMainThread(unsigned char* guard) : pid_(fork()) {
    if (pid_ != 0) return;
    mprotect(guard, kPageBytes, PROT_READ);
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (;;) pause();
        },
        nullptr);
    syscall(SYS_exit, 0);
  }
  ~WithoutMainThread() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  void AwaitZombie() const {
    for (int i = 0; i < 1000 && StateOf(pid_).value_or(ProcessState{}).state != 'Z'; ++i) {
      usleep(5000);
    }
  }

 private:
  const pid_t pid_;
};

TEST_F(ChildrenAreaFileTest, AProcessWhoseMainThreadHasEndedHasItsSlotStill) {
  const WithoutMainThread child(GuardOf(2));
  child.AwaitZombie();
  ASSERT_EQ(StateOf(child.pid()).value().state, 'Z');
  EXPECT_EQ(area_.Has(child.pid(), 2), Owns::kYes);
  EXPECT_EQ(area_.Has(child.pid(), 1), Owns::kNo);
  EXPECT_TRUE(area_.IsMappedBy(child.pid()));
  const SlotClaim claim = {&area_, {2, static_cast<uint32_t>(child.pid()), true, 0, 0, {}}};
  EXPECT_EQ(FindSlotOwners({claim}, 0)[0].pid, child.pid());
}

TEST_F(ChildrenAreaFileTest, OfAProcessThatHasEndedNothingIsKnownByItsMappings) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(area_.Has(child, 1), Owns::kUnknown);
  const SlotClaim claim = {&area_, {1, static_cast<uint32_t>(child), true, 0, 0, {}}};
  EXPECT_EQ(FindSlotOwners({claim}, 0)[0].owns, Owns::kNo);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(area_.Has(child, 1), Owns::kUnknown);
}

// A process of another user may not be asked. It is taken for the slot's owner only if it is a
// descendant; that it has no slot is never reported.
TEST_F(ChildrenAreaFileTest, ASearchByAUserDoesNotPassByAnothersProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "for root";
  const Holder holder(GuardOf(2));
  ASSERT_TRUE(holder.Waits(area_, 2));
  const SlotClaim claim = {&area_, {2, static_cast<uint32_t>(holder.pid()), true, 0, 0, {}}};
  const uint64_t start = StartTicksOf(holder.pid()).value();
  const pid_t user = fork();
  if (user == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(100);
    const auto alone = FindSlotOwners({claim}, start)[0];
    const auto of_ours = FindSlotOwners({claim}, start, [](pid_t) { return true; })[0];
    _exit((alone.owns == Owns::kUnknown ? 0 : 1) +
          (of_ours.owns == Owns::kYes && of_ours.pid == holder.pid() ? 0 : 2));
  }
  int status = 0;
  waitpid(user, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(ChildrenAreaFileTest, ASearchPassesByWhoIsOlderThanTheProgram) {
  const Holder holder(GuardOf(2));
  ASSERT_TRUE(holder.Waits(area_, 2));
  const SlotClaim claim = {&area_, {2, kUnknownPid, true, 0, 0, {}}};
  const uint64_t start = StartTicksOf(holder.pid()).value();
  EXPECT_EQ(FindSlotOwners({claim}, start)[0].pid, holder.pid());
  EXPECT_EQ(FindSlotOwners({claim}, start + 1)[0].pid, 0);
}

}  // namespace
}  // namespace memprof
