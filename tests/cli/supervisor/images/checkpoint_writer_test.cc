#include "cli/supervisor/images/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/temporary_directory.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

TEST(CheckpointWriter, MetricsAreWrittenWhereTheCaptureCanNotBe) {
  const TemporaryDirectory files;
  const MadeRegion region;
  CheckpointWriter writer;
  writer.Start(files / "nowhere/x.memprof", region.fd(), {}, {}, files / "m.prom");
  EXPECT_FALSE(writer.Finish());
  EXPECT_EQ(writer.no_metrics(), "");
  EXPECT_TRUE(std::filesystem::exists(files / "m.prom"));
}

TEST(CheckpointWriter, TheCaptureIsWrittenWhereMetricsCanNotBe) {
  const TemporaryDirectory files;
  const MadeRegion region;
  CheckpointWriter writer;
  writer.Start(files / "x.memprof", region.fd(), {}, {}, files / "nowhere/m.prom");
  EXPECT_TRUE(writer.Finish());
  EXPECT_NE(writer.no_metrics().find("nowhere/m.prom"), std::string::npos) << writer.no_metrics();
  EXPECT_TRUE(std::filesystem::exists(files / "x.memprof"));
}

}  // namespace
}  // namespace memprof
