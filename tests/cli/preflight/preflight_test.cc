#include "cli/preflight/preflight.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <iterator>

#include "cli/basics/exit_status.h"
#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

constexpr char kPath[] = "/usr/bin:/bin";

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The refusal's status and whether its line has `word`.
testing::AssertionResult Refuses(const std::string& program, int status, const std::string& word) {
  const auto checked = CheckProgram(program, kPath);
  if (checked) return testing::AssertionFailure() << program << " was taken";
  const Refusal& refusal = checked.error();
  if (refusal.status != status || refusal.message.find(word) == std::string::npos) {
    return testing::AssertionFailure() << refusal.status << ": " << refusal.message;
  }
  return testing::AssertionSuccess();
}

TEST(Preflight, FindsAProgramInThePath) {
  const auto checked = CheckProgram("sh", "/nowhere:/bin");
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->path, "/bin/sh");
  EXPECT_EQ(checked->loader, "/lib64/ld-linux-x86-64.so.2");
}

TEST(Preflight, TakesAnEmptyPathEntryForTheCurrentDirectory) {
  EXPECT_FALSE(CheckProgram("no-such-program", ":/bin"));
  EXPECT_EQ(CheckProgram("no-such-program", "").error().status, kExitNotFound);
}

TEST(Preflight, RefusesWhatIsNotThere) {
  EXPECT_TRUE(Refuses("no-such-program", kExitNotFound, "not found in PATH"));
  EXPECT_TRUE(Refuses("/no/such/program", kExitNotFound, "No such file"));
}

TEST(Preflight, RefusesWhatIsNotExecutable) {
  const TemporaryDirectory files;
  EXPECT_TRUE(Refuses(files.Write("plain", "text"), kExitCannotExecute, "chmod +x"));
  EXPECT_TRUE(Refuses(files.path(), kExitCannotExecute, "directory"));
  const auto in_path = CheckProgram("plain", files.path());
  ASSERT_FALSE(in_path);
  EXPECT_EQ(in_path.error().status, kExitCannotExecute);
}

TEST(Preflight, ResolvesAScriptsInterpreter) {
  const TemporaryDirectory files;
  const auto direct = CheckProgram(files.Write("a", "#! /bin/sh -e\n", 0755), kPath);
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->path, files / "a");
  EXPECT_EQ(direct->interpreter, "/bin/sh");
  const auto by_env = CheckProgram(files.Write("b", "#!/usr/bin/env -S X=1 sh -e\n", 0755), kPath);
  ASSERT_TRUE(by_env);
  EXPECT_EQ(by_env->interpreter, "/usr/bin/sh");
  const auto nested = CheckProgram(files.Write("c", "#!" + files / "a", 0755), kPath);
  ASSERT_TRUE(nested);
  EXPECT_EQ(nested->interpreter, "/bin/sh");
}

TEST(Preflight, RefusesAScriptWhoseInterpreterCannotRun) {
  const TemporaryDirectory files;
  for (const char* nothing : {"#!", "#! \n", "#!/usr/bin/env\n"}) {
    EXPECT_TRUE(Refuses(files.Write("n", nothing, 0755), kExitCannotExecute, "no interpreter"));
  }
  // The kernel takes the carriage return for a part of the name.
  EXPECT_TRUE(Refuses(files.Write("r", "#!/bin/sh\r\n", 0755), kExitNotFound, "interpreter"));
  EXPECT_TRUE(Refuses(files.Write("a", "#!/no/such\n", 0755), kExitNotFound, "interpreter"));
  EXPECT_TRUE(
      Refuses(files.Write("b", "#!/usr/bin/env nosuch\n", 0755), kExitNotFound, "interpreter"));
  EXPECT_TRUE(Refuses(files.Write("c", std::string("#!") + STATIC_PROGRAM + "\n", 0755),
                      kExitRefused, "statically linked"));
}

TEST(Preflight, TakesAScriptWithoutAnInterpreterLine) {
  const TemporaryDirectory files;
  EXPECT_TRUE(CheckProgram(files.Write("a", "echo\n", 0755), kPath));
}

TEST(Preflight, RefusesStaticPrograms) {
  EXPECT_TRUE(Refuses(STATIC_PROGRAM, kExitRefused, "statically linked"));
  EXPECT_TRUE(Refuses(STATIC_PIE_PROGRAM, kExitRefused, "statically linked"));
}

constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";

TEST(Preflight, FollowsALoaderThatIsRunItself) {
  const auto checked = CheckProgram(
      std::vector<std::string>{kLoader, "--library-path", "/lib", PLAIN_PROGRAM}, kPath);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->path, kLoader);
  EXPECT_EQ(checked->Runs(), PLAIN_PROGRAM);
  EXPECT_EQ(checked->name, PLAIN_PROGRAM);
  EXPECT_EQ(checked->loader, kLoader);
  EXPECT_EQ(checked->loader_options, (std::vector<std::string>{"--library-path", "/lib"}));
  EXPECT_TRUE(Refuses(kLoader, kExitRefused, "is the loader itself"));
  const auto refused = [](const char* program) {
    return CheckProgram(std::vector<std::string>{kLoader, program}, kPath).error();
  };
  EXPECT_EQ(refused("/no/such/program").status, kExitNotFound);
  EXPECT_NE(refused(STATIC_PROGRAM).message.find("statically linked"), std::string::npos);
  EXPECT_NE(refused(SANITIZED_PROGRAM).message.find("sanitizer"), std::string::npos);
  // The program's own permissions aren't used: the kernel executes the loader.
  const TemporaryDirectory files;
  const std::string setuid = files.Write("setuid", ContentOf(PLAIN_PROGRAM), 04644);
  EXPECT_TRUE(CheckProgram(std::vector<std::string>{kLoader, setuid}, kPath));
}

TEST(Preflight, RefusesMusl) { EXPECT_TRUE(Refuses(MUSL_PROGRAM, kExitRefused, "musl")); }

TEST(Preflight, RefusesAddressSanitizer) {
  EXPECT_TRUE(Refuses(SANITIZED_PROGRAM, kExitRefused, "sanitizer"));
}

TEST(Preflight, RefusesAnotherMachineAnd32Bits) {
  const TemporaryDirectory files;
  std::string bytes = ContentOf(PLAIN_PROGRAM);
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_TRUE(Refuses(files.Write("narrow", bytes, 0755), kExitRefused, "32-bit"));
  bytes = ContentOf(PLAIN_PROGRAM);
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_TRUE(Refuses(files.Write("foreign", bytes, 0755), kExitRefused, "another machine"));
}

TEST(Preflight, RefusesSetuidAndSetgid) {
  const TemporaryDirectory files;
  const std::string bytes = ContentOf(PLAIN_PROGRAM);
  EXPECT_TRUE(Refuses(files.Write("setuid", bytes, 04755), kExitRefused, "setuid"));
  EXPECT_TRUE(Refuses(files.Write("setgid", bytes, 02755), kExitRefused, "setgid"));
}

TEST(Preflight, WarnsOfAProgramWithItsOwnMalloc) {
  const auto plain = CheckProgram(PLAIN_PROGRAM, kPath);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->warnings.empty());
  const auto own = CheckProgram(OWN_MALLOC_PROGRAM, kPath);
  ASSERT_TRUE(own);
  ASSERT_EQ(own->warnings.size(), 1u);
  EXPECT_NE(own->warnings[0].find("defines malloc itself"), std::string::npos);
}

TEST(Preflight, SurvivesADamagedExecutable) {
  const TemporaryDirectory files;
  const std::string bytes = ContentOf(PLAIN_PROGRAM);
  for (size_t length = 0; length < bytes.size(); length += 509) {
    (void)CheckProgram(files.Write("cut", bytes.substr(0, length), 0755), kPath);
  }
  for (size_t i = 0; i < 1024; i += 5) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(~damaged[i]);
    (void)CheckProgram(files.Write("damaged", damaged, 0755), kPath);
  }
}

}  // namespace
}  // namespace memprof
