#include "cli/preflight/python_command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

using Words = std::vector<std::string>;

class PythonCommand : public testing::Test {
 protected:
  void SetUp() override { unsetenv("VIRTUAL_ENV"); }
  void TearDown() override { unsetenv("VIRTUAL_ENV"); }

  const TemporaryDirectory files_;
};

TEST_F(PythonCommand, GivesModulesCodeAndScriptsTheirInterpreter) {
  const std::string script = files_.Write("a.py", "print(1)\n");
  EXPECT_EQ(CompletePythonCommand({"-m", "json.tool", "-h"}, ""),
            (Words{"python3", "-m", "json.tool", "-h"}));
  EXPECT_EQ(CompletePythonCommand({"-c", "pass"}, ""), (Words{"python3", "-c", "pass"}));
  EXPECT_EQ(CompletePythonCommand({script, "x"}, ""), (Words{"python3", script, "x"}));
  EXPECT_EQ(CompletePythonCommand({script}, "/opt/python"), (Words{"/opt/python", script}));
}

TEST_F(PythonCommand, TakesTheScriptsFirstLine) {
  const std::string text = "#!/usr/bin/env -S python3.9 -I\npass\n";
  const std::string script = files_.Write("a.py", text);
  EXPECT_EQ(CompletePythonCommand({script}, ""),
            (Words{"/usr/bin/env", "-S", "python3.9", "-I", script}));
  // The kernel reads it itself.
  const std::string executable = files_.Write("b.py", text, 0755);
  EXPECT_EQ(CompletePythonCommand({executable}, ""), Words{executable});
  EXPECT_EQ(CompletePythonCommand({executable}, "python3"), (Words{"python3", executable}));
}

TEST_F(PythonCommand, TakesTheActiveVirtualEnvironment) {
  std::filesystem::create_directory(files_ / "bin");
  setenv("VIRTUAL_ENV", files_.path().c_str(), 1);
  EXPECT_EQ(CompletePythonCommand({"-c", "pass"}, "")[0], "python3");  // it has no interpreter
  const std::string python = files_.Write("bin/python3", "", 0755);
  EXPECT_EQ(CompletePythonCommand({"-c", "pass"}, "")[0], python);
}

TEST_F(PythonCommand, LeavesOtherCommandsAlone) {
  for (const Words& command : {Words{"ls", "-m"}, Words{"./missing.py"}, Words{files_.path()}}) {
    EXPECT_EQ(CompletePythonCommand(command, "/opt/python"), command);
  }
}

}  // namespace
}  // namespace memprof
