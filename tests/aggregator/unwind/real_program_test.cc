// The stacks of every malloc of real programs, under stack_check_preload.cc: reuse must give the
// same as a walk from scratch, and both the same as libunwind.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace memprof::test {
namespace {

struct Counts {
  uint64_t captures = 0, frames = 0, unchanged = 0, reuse_mismatches = 0;
  uint64_t oracle_captures = 0, oracle_mismatches = 0, incomplete = 0;
  uint64_t verified = 0, verified_mismatches = 0;
};

bool IsInstalled(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// Runs a shell command under the preload and sums up all its processes.
Counts CheckStacksOf(const std::string& command) {
  char directory[] = "/tmp/memprof-stack-check-XXXXXX";
  EXPECT_NE(mkdtemp(directory), nullptr);
  const std::string file = std::string(directory) + "/counts";
  const std::string line = std::string("cd ") + directory + " && MEMPROF_STACK_CHECK=" + file +
                           " LD_PRELOAD=" MEMPROF_STACK_CHECK_PRELOAD " " + command +
                           " >/dev/null 2>&1";
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
  Counts sum;
  std::ifstream lines(file);
  Counts one;
  while (lines >> one.captures >> one.frames >> one.unchanged >> one.reuse_mismatches >>
         one.oracle_captures >> one.oracle_mismatches >> one.incomplete >> one.verified >>
         one.verified_mismatches) {
    sum.captures += one.captures;
    sum.frames += one.frames;
    sum.unchanged += one.unchanged;
    sum.reuse_mismatches += one.reuse_mismatches;
    sum.oracle_captures += one.oracle_captures;
    sum.oracle_mismatches += one.oracle_mismatches;
    sum.incomplete += one.incomplete;
    sum.verified += one.verified;
    sum.verified_mismatches += one.verified_mismatches;
  }
  EXPECT_EQ(std::system((std::string("rm -r ") + directory).c_str()), 0);
  return sum;
}

void ExpectNoMismatch(const char* program, const std::string& command, uint64_t at_least) {
  if (!IsInstalled(program)) GTEST_SKIP() << program << " is not installed";
  const Counts counts = CheckStacksOf(command);
  std::printf(
      "%lu captures, %.1f frames each, %.1f unchanged; %lu known; libunwind asked %lu "
      "times\n",
      counts.captures, static_cast<double>(counts.frames) / static_cast<double>(counts.captures),
      static_cast<double>(counts.unchanged) / static_cast<double>(counts.captures), counts.verified,
      counts.oracle_captures);
  EXPECT_GE(counts.captures, at_least);
  EXPECT_EQ(counts.reuse_mismatches, 0u);
  EXPECT_EQ(counts.oracle_mismatches, 0u);
  EXPECT_EQ(counts.verified_mismatches, 0u);
  EXPECT_GT(counts.verified, 0u);
  EXPECT_EQ(counts.incomplete, 0u);
}

TEST(StacksOfRealPrograms, AreRightInPython) {
  // Its own allocator has what is up to 512 bytes.
  ExpectNoMismatch("/usr/bin/python3",
                   "/usr/bin/python3 -S -c 'import json, re, collections, ctypes\n"
                   "class A:\n"
                   "  def __init__(s, n): s.x = bytearray(600); s.inner = A(n - 1) if n else None\n"
                   "for i in range(1000): json.loads(json.dumps([A(i % 40) and i] * 300))'",
                   20'000);
}

TEST(StacksOfRealPrograms, AreRightInPerl) {
  ExpectNoMismatch("perl",
                   "perl -e 'my %h; for (1..20000) { $h{$_ % 700} .= join(q(,), map { $_ x 3 } "
                   "1..($_ % 5)); } print sort { $h{$a} cmp $h{$b} } keys %h'",
                   20'000);
}

TEST(StacksOfRealPrograms, AreRightInTheCompiler) {
  ExpectNoMismatch("g++",
                   "sh -c \"printf '#include <map>\\n#include <string>\\nint main() { "
                   "std::map<int, std::string> m; m[1] = \\42x\\42; return m.size(); }' > in.cc && "
                   "g++ -O1 -c in.cc -o out.o\"",
                   20'000);
}

TEST(StacksOfRealPrograms, AreRightInGit) {
  ExpectNoMismatch("git",
                   "sh -c 'git init -q . && for i in 1 2 3 4 5; do echo $i > f$i; git add f$i; git "
                   "-c user.name=a -c user.email=a@b.c commit -qm $i; done; git log -p'",
                   1'000);
}

TEST(StacksOfRealPrograms, AreRightInSqlite) {
  ExpectNoMismatch("sqlite3",
                   "sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union "
                   "all select i + 1 from n where i < 3000) insert into t select i, hex(i) from n; "
                   "select b, count(*) from t group by a % 97 order by b;'",
                   3'000);
}

TEST(StacksOfRealPrograms, AreRightInBash) {
  ExpectNoMismatch(
      "bash",
      "bash -c 'declare -A m; f() { local x=$1; [ $x -gt 0 ] && f $((x - 1)); m[$x]+=y; "
      "}; for i in {1..40}; do f 20; done; echo ${!m[@]}'",
      5'000);
}

TEST(StacksOfRealPrograms, AreRightInTheOptimiser) {
  ExpectNoMismatch("g++",
                   "sh -c \"printf '#include <regex>\n#include <map>\n#include <string>\n"
                   "int main(int c, char** v) { std::map<std::string, int> m; "
                   "m[v[0]] = std::regex_match(v[0], std::regex(v[1])); return m.size() + c; }' "
                   "> in.cc && g++ -O2 -c in.cc -o out.o\"",
                   500'000);
}

TEST(StacksOfRealPrograms, AreRightInTheDebugger) {
  ExpectNoMismatch("gdb",
                   "gdb -nx -batch -ex 'info functions mem' -ex 'break main' -ex 'info types .' "
                   "$(command -v gdb)",
                   10'000);
}

}  // namespace
}  // namespace memprof::test
