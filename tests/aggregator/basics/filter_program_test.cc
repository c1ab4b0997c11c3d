#include "aggregator/basics/filter_program.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <random>
#include <vector>

namespace memprof {
namespace {

constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr sock_filter Load(uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
constexpr sock_filter Return(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
constexpr sock_filter IfEqual(uint32_t value, uint8_t yes, uint8_t no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

bool Allows(std::vector<sock_filter> steps) {
  return AllowsAllocatorCalls({static_cast<unsigned short>(steps.size()), steps.data()});
}

// Allows the calls that are named, and nothing else.
std::vector<sock_filter> Only(const std::vector<int>& numbers, uint32_t otherwise) {
  std::vector<sock_filter> steps = {Load(kNumber)};
  for (const int number : numbers) {
    steps.push_back(IfEqual(static_cast<uint32_t>(number), 0, 1));
    steps.push_back(Return(SECCOMP_RET_ALLOW));
  }
  steps.push_back(Return(otherwise));
  return steps;
}

TEST(FilterProgram, TellsWhetherAllThreeCallsPass) {
  for (const uint32_t otherwise : {uint32_t{SECCOMP_RET_KILL_PROCESS}, uint32_t{SECCOMP_RET_TRAP},
                                   uint32_t{SECCOMP_RET_ERRNO | 1}, uint32_t{SECCOMP_RET_TRACE}}) {
    EXPECT_TRUE(Allows(Only({SYS_mmap, SYS_munmap, SYS_mprotect}, otherwise)));
    EXPECT_FALSE(Allows(Only({SYS_mmap, SYS_munmap}, otherwise)));
    EXPECT_FALSE(Allows(Only({SYS_mmap, SYS_mprotect}, otherwise)));
    EXPECT_FALSE(Allows(Only({SYS_brk}, otherwise)));
  }
  EXPECT_TRUE(Allows(Only({}, SECCOMP_RET_LOG)));
}

TEST(FilterProgram, LooksAtArgumentsAndMachine) {
  constexpr uint32_t kArch = offsetof(seccomp_data, arch);
  EXPECT_TRUE(Allows({Load(kArch), IfEqual(AUDIT_ARCH_X86_64, 1, 0), Return(SECCOMP_RET_KILL),
                      Return(SECCOMP_RET_ALLOW)}));
  // Nothing executable: what the tracker maps isn't.
  constexpr uint32_t kProtection = offsetof(seccomp_data, args[2]);
  EXPECT_TRUE(Allows({Load(kProtection), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
                      Return(SECCOMP_RET_KILL), Return(SECCOMP_RET_ALLOW)}));
  EXPECT_FALSE(Allows({Load(kProtection), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 0, 1),
                       Return(SECCOMP_RET_KILL), Return(SECCOMP_RET_ALLOW)}));
}

TEST(FilterProgram, CalculatesAsTheKernelDoes) {
  // a = ((nr ^ nr) + 7) * 3 - 1 = 20, by way of memory and x.
  const std::vector<sock_filter> steps = {
      Load(kNumber),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 7),
      BPF_STMT(BPF_ST, 3),
      BPF_STMT(BPF_LDX | BPF_MEM, 3),
      BPF_STMT(BPF_LD | BPF_IMM, 3),
      BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),
      BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 1),
      BPF_STMT(BPF_JMP | BPF_JA, 1),
      Return(SECCOMP_RET_KILL),
      IfEqual(20, 0, 1),
      Return(SECCOMP_RET_ALLOW),
      Return(SECCOMP_RET_KILL),
  };
  EXPECT_TRUE(Allows(steps));
  EXPECT_FALSE(Allows({BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_RET | BPF_A, 0)}));
}

// The kernel refuses such programs; until then they are run.
TEST(FilterProgram, SurvivesAnyProgram) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<sock_filter> steps(1 + random() % 20);
    for (sock_filter& step : steps) {
      step = {static_cast<uint16_t>(random() % 256), static_cast<uint8_t>(random()),
              static_cast<uint8_t>(random()), static_cast<uint32_t>(random())};
    }
    static_cast<void>(Allows(steps));
  }
}

}  // namespace
}  // namespace memprof
