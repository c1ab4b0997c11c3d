#include "core/region/region_origin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "core/region/region_reader.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

// A region that a tracker made itself.
class RegionOriginTest : public testing::Test {
 protected:
  RegionOriginTest() : region_(MadeRegion::Kind::kFile) {
    origin().unsupervised = 1;
    origin().start_unix_ms = 1000;
    origin().run_id = 77;
    region_.header().pid = 4711;
    region_.header().started_ns = 5'000'000'000;
  }

  RegionOrigin& origin() { return region_.header().origin; }

  void SetText(const std::string& text) {
    origin().text_offset = region_.count(Table::kStrings);
    std::memcpy(&region_.At<char>(Table::kStrings, origin().text_offset), text.data(), text.size());
    region_.count(Table::kStrings) += static_cast<uint32_t>(text.size());
    origin().text_bytes = static_cast<uint32_t>(text.size());
  }

  SnapshotProgram Program(EndKind end) {
    SnapshotProgram program;
    program.program = "x.memprof";
    program.end_kind = end;
    const Result<Snapshot> snapshot = ReadRegion(region_.fd(), program);
    EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
    return snapshot ? snapshot->program : SnapshotProgram();
  }

  MadeRegion region_;
};

TEST_F(RegionOriginTest, TellsTheProgramAndItsCommandLine) {
  region_.Module("/bin/before", 0);
  SetText(std::string("app\0/usr/bin/app\0--flag\0\0", 25));
  const SnapshotProgram program = Program(EndKind::kEnded);
  EXPECT_EQ(program.program, "app");
  EXPECT_EQ(program.command, (std::vector<std::string>{"/usr/bin/app", "--flag", ""}));
  EXPECT_EQ(program.pid, 4711u);
  EXPECT_EQ(program.run_id, 77u);
  EXPECT_EQ(program.start_unix_ms, 1000);
}

TEST_F(RegionOriginTest, DoesNotKnowHowItEndedWithoutAnExit) {
  const SnapshotProgram program = Program(EndKind::kEnded);
  EXPECT_EQ(program.end_kind, EndKind::kEnded);
  EXPECT_EQ(program.duration_ms, 0u);
}

TEST_F(RegionOriginTest, TellsTheStatusAndTheTimeOfAnExit) {
  origin().exit_status_plus_one = 4;
  origin().ended_ns = 5'250'000'000;
  const SnapshotProgram program = Program(EndKind::kEnded);
  EXPECT_EQ(program.end_kind, EndKind::kExit);
  EXPECT_EQ(program.end_code, 3u);
  EXPECT_EQ(program.duration_ms, 250u);
}

TEST_F(RegionOriginTest, TakesNoStartForAnEraThatItCanNotCount) {
  origin().start_unix_ms = std::numeric_limits<int64_t>::min();
  EXPECT_GT(Program(EndKind::kRunning).duration_ms, uint64_t{1} << 63);
  origin().start_unix_ms = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Program(EndKind::kRunning).duration_ms, 0u);
}

TEST_F(RegionOriginTest, LeavesTheRegionOfASupervisorToIt) {
  origin().unsupervised = 0;
  SetText(std::string("app\0", 4));
  const SnapshotProgram program = Program(EndKind::kRunning);
  EXPECT_EQ(program.program, "x.memprof");
  EXPECT_EQ(program.pid, 0u);
}

TEST_F(RegionOriginTest, BelievesNoTextOutsideTheTable) {
  SetText(std::string("app\0", 4));
  origin().text_bytes = 0xffffffffu;
  EXPECT_EQ(Program(EndKind::kEnded).program, "x.memprof");
  origin().text_bytes = 4;
  origin().text_offset = 0xfffffff0u;
  EXPECT_EQ(Program(EndKind::kEnded).program, "x.memprof");
}

TEST_F(RegionOriginTest, SaysWhyNothingWasCountedWithoutControlCharacters) {
  std::memset(origin().trouble, 'a', sizeof origin().trouble);  // no 0 at its end
  origin().trouble[1] = '\033';
  const Result<Snapshot> snapshot = ReadRegion(region_.fd(), {});
  ASSERT_FALSE(snapshot.has_value());
  EXPECT_EQ(snapshot.error().kind, ErrorKind::kUnreadable);
  EXPECT_EQ(snapshot.error().message,
            "nothing was counted: a?" + std::string(sizeof origin().trouble - 2, 'a'));
}

}  // namespace
}  // namespace memprof
