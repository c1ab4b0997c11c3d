#include "cli/supervisor/tree/tree_captures.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/temporary_directory.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

SnapshotProgram ProgramOf(uint64_t run_id) {
  SnapshotProgram program;
  program.run_id = run_id;
  return program;
}

TEST(TreeCaptures, WritesWhatIsAddedWhileItsOwnerGoesOn) {
  const TemporaryDirectory files;
  const MadeRegion region;
  TreeCaptures captures({files / "x.memprof", false, 64});
  for (uint64_t i = 1; i <= 20; ++i) {
    captures.Checkpoint(region.fd(), ProgramOf(i), {}, "." + std::to_string(i));
    captures.IsIdle();
  }
  captures.Settle();
  EXPECT_EQ(captures.files().size(), 20u);
  EXPECT_TRUE(captures.IsIdle());
  // Once more, by another thread: a new one, and one that replaces an earlier one.
  captures.Checkpoint(region.fd(), ProgramOf(21), {}, ".21");
  captures.Checkpoint(region.fd(), ProgramOf(3), {}, ".3");
  captures.Settle();
  EXPECT_EQ(captures.files().size(), 21u);
  EXPECT_TRUE(std::filesystem::exists(files / "x.3.memprof"));
}

TEST(TreeCaptures, NeedNotBeSettledWhereNothingWasAdded) {
  const TemporaryDirectory files;
  TreeCaptures captures({files / "x.memprof", false, 64});
  captures.Settle();
  EXPECT_TRUE(captures.IsIdle());
}

}  // namespace
}  // namespace memprof
