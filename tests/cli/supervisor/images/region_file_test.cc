#include "cli/supervisor/images/region_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "core/region/region_reader.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

struct stat StatusOf(int fd) {
  struct stat info = {};
  fstat(fd, &info);
  return info;
}

TEST(RegionFile, IsAnEmptyRegion) {
  const auto region = RegionFile::InMemory();
  ASSERT_TRUE(region);
  EXPECT_TRUE(IsRegion(region->fd()));
  const Result<Snapshot> snapshot = ReadRegion(region->fd(), {});
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(SumTotal(*snapshot), Count());
}

TEST(RegionFile, TakesNoMemoryUntilItIsUsed) {
  const auto region = RegionFile::InMemory();
  EXPECT_GT(region->bytes(), 400u << 20);
  EXPECT_LE(StatusOf(region->fd()).st_blocks * 512, 8192);
}

TEST(RegionFile, CannotShrinkUnderTheProgram) {
  const auto region = RegionFile::InMemory();
  EXPECT_NE(ftruncate(region->fd(), 4096), 0);
  EXPECT_EQ(StatusOf(region->fd()).st_size, static_cast<off_t>(region->bytes()));
}

TEST(RegionFile, IsNotInheritedByTheProgram) {
  const auto region = RegionFile::InMemory();
  EXPECT_EQ(fcntl(region->fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(RegionFile, OfTheUsersIsAllocatedInFullAndKept) {
  const TemporaryDirectory files;
  const std::string path = files / "x.region";
  {
    const auto region = RegionFile::InFile(path, false);
    ASSERT_TRUE(region) << region.error().message;
    EXPECT_GE(StatusOf(region->fd()).st_blocks * 512, static_cast<off_t>(region->bytes()));
  }
  const int fd = open(path.c_str(), O_RDONLY);
  EXPECT_TRUE(IsRegion(fd));
  close(fd);
}

TEST(RegionFile, OverwritesOnlyIfTold) {
  const TemporaryDirectory files;
  const std::string path = files.Write("x.region", "old");
  const auto refused = RegionFile::InFile(path, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kExists);
  EXPECT_EQ(std::filesystem::file_size(path), 3u);
  EXPECT_TRUE(RegionFile::InFile(path, true));
  EXPECT_GT(std::filesystem::file_size(path), 1u << 20);
}

TEST(RegionFile, TakesTheNameOfAnOldRegionAndLeavesItsUsersAlone) {
  const TemporaryDirectory files;
  const std::string path = files / "x.region";
  const auto first = RegionFile::InFile(path, false);
  const auto second = RegionFile::InFile(path, true);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE(StatusOf(first->fd()).st_ino, StatusOf(second->fd()).st_ino);
  EXPECT_TRUE(IsRegion(first->fd()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files.path()), {}), 1);
}

TEST(RegionFile, LeavesNothingBehindWhereItCannotBe) {
  const TemporaryDirectory files;
  EXPECT_FALSE(RegionFile::InFile(files / "no/x.region", false));
  EXPECT_FALSE(RegionFile::InFile("/dev/full/x", false));
  EXPECT_TRUE(std::filesystem::is_empty(files.path()));
}

// In a child, whose limits are its own. Its status: 0 if it could.
int UnderLimit(__rlimit_resource resource, rlim_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    // A sanitizer's allocator maps memory for the first object of a size, which the limit forbids.
    EXPECT_TRUE(RegionFile::InMemory());
    const rlimit limit = {bytes, bytes};
    setrlimit(resource, &limit);
    const auto region = RegionFile::InMemory();
    _exit(!region ? 1 : region->bytes() > bytes ? 2 : 0);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST(RegionFile, LeavesTheProgramItsAddressSpace) {
  EXPECT_EQ(UnderLimit(RLIMIT_AS, 256 << 20), 0);
}

// By the process's own limits, which the tracker sends: the supervisor's may differ.
TEST(RegionFile, LeavesAnotherProcessItsAddressSpace) {
  const auto small = RegionFile::InMemory(32 << 20);
  ASSERT_TRUE(small);
  EXPECT_LE(small->bytes(), 36u << 20);
  const auto smallest = RegionFile::InMemory(0);
  ASSERT_TRUE(smallest);
  EXPECT_LE(smallest->bytes(), 8u << 20);
}

TEST(RegionFile, FitsInALimitOnFileSizes) {
  EXPECT_EQ(UnderLimit(RLIMIT_FSIZE, 16 << 20), 0);
  EXPECT_EQ(UnderLimit(RLIMIT_FSIZE, 4096), 1);
}

}  // namespace
}  // namespace memprof
