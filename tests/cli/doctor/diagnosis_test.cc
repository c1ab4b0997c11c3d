#include "cli/doctor/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/basics/command_output.h"
#include "cli/doctor/host_checks.h"
#include "cli/preflight/elf_facts.h"
#include "cli/preflight/loaded_modules.h"
#include "cli/symbols/debug_packages.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

constexpr char kPath[] = "/usr/bin:/bin";

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CommandOutput, IsWhatTheCommandWroteToStdout) {
  EXPECT_EQ(OutputOf({"sh", "-c", "echo a; echo b >&2; exit 3"}), "a\n");
  EXPECT_EQ(OutputOf({"no-such-command"}), "");
  EXPECT_EQ(OutputOf({"head", "-c", "100000", "/dev/zero"}).size(), 100000u);
}

TEST(CommandOutput, HasErrorsAndAnotherEnvironmentIfAskedFor) {
  CommandOptions options;
  options.with_errors = true;
  options.environment = {"PATH_OF=x", "HOME=/other"};
  EXPECT_EQ(OutputOf({"sh", "-c", "echo $PATH_OF $HOME >&2"}, options), "x /other\n");
}

TEST(DiagnoseProgram, SaysTheSameOfARelativePath) {
  const std::string relative = std::filesystem::relative(PLAIN_PROGRAM).string();
  ASSERT_NE(relative[0], '/');
  const Diagnosis found = DiagnoseProgram(
      {relative.find('/') == std::string::npos ? "./" + relative : relative}, kPath);
  EXPECT_FALSE(Has(found.text, "plain_program  can't be read")) << found.text;
  EXPECT_FALSE(Has(found.text, relative + "  can't be read")) << found.text;
}

TEST(LoadedModules, AreThePathsThatTheLoaderFound) {
  const LoadedModules modules = ParseModuleList(
      "\tlinux-vdso.so.1 (0x00007ffd)\n"
      "\tlibx.so.1 => /opt/my libs/libx.so.1 (0x00007f01)\n"
      "\tlibgone.so => not found\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f02)\n");
  const std::vector<std::string> paths = {"/opt/my libs/libx.so.1", "/lib64/ld-linux-x86-64.so.2"};
  EXPECT_EQ(modules.paths, paths);
  EXPECT_EQ(modules.missing, std::vector<std::string>{"libgone.so"});
}

TEST(LoadedModules, OfARealProgramHaveItAndItsLibc) {
  const LoadedModules modules = ListModules(PLAIN_PROGRAM, "/lib64/ld-linux-x86-64.so.2");
  ASSERT_FALSE(modules.paths.empty());
  EXPECT_EQ(modules.paths[0], PLAIN_PROGRAM);
  EXPECT_TRUE(std::any_of(modules.paths.begin(), modules.paths.end(),
                          [](const std::string& path) { return path.ends_with("/libc.so.6"); }));
  EXPECT_TRUE(modules.missing.empty());
}

TEST(LoadedModules, OfARelativePathAreKept) {
  const LoadedModules modules = ParseModuleList(
      "\tlinux-vdso.so.1 (0x00007ffd)\n"
      "\t./liby.so (0x00007f01)\n");
  EXPECT_EQ(modules.paths, std::vector<std::string>{"./liby.so"});
}

TEST(MallocxLibrary, IsAmongTheLibrariesThatAProgramStartsWith) {
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  EXPECT_EQ(MallocxLibrary(ListModules(MALLOCX_PROGRAM, loader)), MALLOCX_LIBRARY);
  EXPECT_EQ(MallocxLibrary(ListModules(PLAIN_PROGRAM, loader)), "");
}

TEST(MallocxLibrary, IsNotTheProgramItself) {
  EXPECT_EQ(MallocxLibrary({{MALLOCX_LIBRARY, PLAIN_PROGRAM}, {}}), "");
}

TEST(MallocxLibrary, IsNotOneThatOnlyCallsIt) {
  EXPECT_EQ(MallocxLibrary({{PLAIN_PROGRAM, MALLOCX_PROGRAM, "/no/such/file"}, {}}), "");
}

TEST(DebugPackages, AreNamedAfterTheOwners) {
  const std::vector<std::string> packages = {"libc6-dbg", "libssl3-dbgsym", "redis-tools-dbgsym"};
  EXPECT_EQ(ParseDebugPackages("libssl3:amd64: /usr/lib/x86_64-linux-gnu/libssl.so.3\n"
                               "diversion by dash from: /bin/sh\n"
                               "redis-tools, other: /usr/bin/redis-check-rdb\n"
                               "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6\n"),
            packages);
}

TEST(ElfFacts, HaveTheBuildId) {
  const auto facts = ReadElfFacts("/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->build_id.size(), 40u);
  EXPECT_EQ(facts->build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Diagnosis, TellsTheModulesOfAProgram) {
  const Diagnosis diagnosis = DiagnoseProgram({PLAIN_PROGRAM}, kPath);
  EXPECT_TRUE(diagnosis.fine);
  EXPECT_TRUE(Has(diagnosis.text, "can be profiled"));
  EXPECT_TRUE(Has(diagnosis.text, "glibc's"));
  EXPECT_TRUE(Has(diagnosis.text, "libc.so.6"));
}

TEST(Diagnosis, TellsTheInterpreterOfAScript) {
  const TemporaryDirectory files;
  const Diagnosis diagnosis = DiagnoseProgram({files.Write("s", "#!/bin/sh\n", 0755)}, kPath);
  EXPECT_TRUE(diagnosis.fine);
  EXPECT_TRUE(Has(diagnosis.text, "by /bin/sh")) << diagnosis.text;
}

TEST(Diagnosis, TellsWhyAProgramCannotBeProfiled) {
  const Diagnosis diagnosis = DiagnoseProgram({STATIC_PROGRAM}, kPath);
  EXPECT_FALSE(diagnosis.fine);
  EXPECT_TRUE(Has(diagnosis.text, "can't be profiled")) << diagnosis.text;
  EXPECT_TRUE(Has(diagnosis.text, "statically linked"));
}

TEST(Diagnosis, WarnsOfAnAllocatorOfItsOwn) {
  EXPECT_TRUE(Has(DiagnoseProgram({OWN_MALLOC_PROGRAM}, kPath).text, "defines malloc itself"));
}

TEST(HostChecks, AreMadeForAllThatRunNeeds) {
  const auto checks = CheckHost();
  for (const char* what : {"tracker", "glibc", "region", "socket"}) {
    EXPECT_EQ(std::count_if(checks.begin(), checks.end(),
                            [&](const HostCheck& check) { return check.what == what; }),
              1)
        << what;
  }
  for (const HostCheck& check : checks) EXPECT_NE(check.said, "") << check.what;
}

}  // namespace
}  // namespace memprof
