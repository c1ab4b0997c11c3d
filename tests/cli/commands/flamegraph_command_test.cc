#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "formats/capture/capture_writer.h"

namespace memprof {
namespace {

class Flamegraph : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "flamegraph.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    Snapshot snapshot;
    snapshot.program.program = "demo";
    snapshot.frames = {{kNoModule, kPcNoStack}};
    snapshot.nodes = {{0, 0}, {0, 0}};
    snapshot.thread_names = {"main"};
    snapshot.sites = {{1, 0, {123456, 7}, {21, 1}, {654321, 70}}};
    capture_ = folder_ / "demo.memprof";
    ASSERT_TRUE(WriteCaptureFile(capture_, Canonical(snapshot)).has_value());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static int Run(std::vector<std::string> arguments) {
    CLI::App app;
    Arguments declared(app);
    const CommandBody body = SetUpFlamegraph(declared);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(arguments);
    return body();
  }

  static std::string Text(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_, capture_;
};

TEST_F(Flamegraph, WritesThePageBesideTheCaptureAndSaysWhere) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Run({capture_}), kExitFine);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), capture_.string() + ".html\n");
  const std::string page = Text(capture_.string() + ".html");
  EXPECT_NE(page.find(R"("totals":{"peak":[123456,7],"leaked":[21,1],"total":[654321,70],)"),
            std::string::npos);
  EXPECT_NE(page.find(R"("mode":"peak")"), std::string::npos);
  EXPECT_NE(page.find(R"("statistics":{"facts":[["program","demo"],)"), std::string::npos);
  EXPECT_NE(page.find(R"(["total","639.0 KiB (654,321 B) in 70 allocations"])"), std::string::npos);
  EXPECT_NE(page.find(R"("capture":"demo.memprof")"), std::string::npos);
}

TEST_F(Flamegraph, ShowsLeaksFirstWhenAsked) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Run({"--leaks", capture_}), kExitFine);
  testing::internal::GetCapturedStdout();
  EXPECT_NE(Text(capture_.string() + ".html").find(R"("mode":"leaked")"), std::string::npos);
}

TEST_F(Flamegraph, OverwritesNothingWithoutForce) {
  const std::string out = folder_ / "out.html";
  std::ofstream(out) << "mine";
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run({capture_, "-o", out}), kExitUsage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "memprof: " + out + " exists; use -f to overwrite it\n");
  EXPECT_EQ(Text(out), "mine");
  testing::internal::CaptureStdout();
  EXPECT_EQ(Run({capture_, "-o", out, "-f"}), kExitFine);
  testing::internal::GetCapturedStdout();
  EXPECT_TRUE(Text(out).starts_with("<!doctype html>"));
}

TEST_F(Flamegraph, WritesNothingForWhatIsNoCapture) {
  const std::string other = folder_ / "other";
  std::ofstream(other) << "no capture";
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run({other}), kExitUnreadable);
  EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("memprof: " + other));
  EXPECT_FALSE(std::filesystem::exists(other + ".html"));
}

}  // namespace
}  // namespace memprof
