#include "aggregator/basics/filter_program.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memprof {
namespace {

constexpr uint32_t kAllows = SECCOMP_RET_ALLOW;  // also for what is no program

struct Machine {
  uint32_t a = 0;
  uint32_t x = 0;
  uint32_t memory[BPF_MEMWORDS] = {};
};

uint32_t Calculate(uint32_t operation, uint32_t a, uint32_t b) {
  switch (operation) {
    case BPF_ADD:
      return a + b;
    case BPF_SUB:
      return a - b;
    case BPF_MUL:
      return a * b;
    case BPF_DIV:
      return b != 0 ? a / b : 0;
    case BPF_OR:
      return a | b;
    case BPF_AND:
      return a & b;
    case BPF_XOR:
      return a ^ b;
    case BPF_LSH:
      return b < 32 ? a << b : 0;
    case BPF_RSH:
      return b < 32 ? a >> b : 0;
    default:
      return 0u - a;  // BPF_NEG
  }
}

bool Holds(uint32_t test, uint32_t a, uint32_t b) {
  switch (test) {
    case BPF_JEQ:
      return a == b;
    case BPF_JGT:
      return a > b;
    case BPF_JGE:
      return a >= b;
    default:
      return (a & b) != 0;  // BPF_JSET
  }
}

uint32_t Load(const seccomp_data& data, uint32_t offset) {
  uint32_t word = 0;
  if (offset <= sizeof data - sizeof word) {
    memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  }
  return word;
}

// Jumps lead forward only, so it ends.
uint32_t Run(const sock_fprog& program, const seccomp_data& data) {
  Machine m;
  for (uint32_t at = 0; at < program.len; ++at) {
    const sock_filter step = program.filter[at];
    const uint32_t operand = BPF_SRC(step.code) == BPF_X ? m.x : step.k;
    const uint32_t cell = step.k % BPF_MEMWORDS;
    switch (BPF_CLASS(step.code)) {
      case BPF_LD:
      case BPF_LDX: {
        const uint32_t mode = BPF_MODE(step.code);
        const uint32_t value = mode == BPF_ABS   ? Load(data, step.k)
                               : mode == BPF_MEM ? m.memory[cell]
                               : mode == BPF_LEN ? static_cast<uint32_t>(sizeof data)
                                                 : step.k;
        (BPF_CLASS(step.code) == BPF_LD ? m.a : m.x) = value;
        break;
      }
      case BPF_ST:
        m.memory[cell] = m.a;
        break;
      case BPF_STX:
        m.memory[cell] = m.x;
        break;
      case BPF_ALU:
        m.a = Calculate(BPF_OP(step.code), m.a, operand);
        break;
      case BPF_JMP:
        if (BPF_OP(step.code) == BPF_JA) {
          if (step.k >= program.len) return kAllows;
          at += step.k;
        } else {
          at += Holds(BPF_OP(step.code), m.a, operand) ? step.jt : step.jf;
        }
        break;
      case BPF_MISC:
        (BPF_MISCOP(step.code) == BPF_TAX ? m.x : m.a) =
            BPF_MISCOP(step.code) == BPF_TAX ? m.a : m.x;
        break;
      default:  // BPF_RET
        return BPF_RVAL(step.code) == BPF_A ? m.a : step.k;
    }
  }
  return kAllows;
}

bool Allows(const sock_fprog& program, int number, uint64_t length, uint64_t protection,
            uint64_t flags, uint64_t fd) {
  seccomp_data data = {};
  data.nr = number;
  data.arch = AUDIT_ARCH_X86_64;
  data.instruction_pointer = reinterpret_cast<uintptr_t>(&AllowsAllocatorCalls);
  data.args[1] = length;
  data.args[2] = protection;
  data.args[3] = flags;
  data.args[4] = fd;
  const uint32_t action = Run(program, data) & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace

bool AllowsAllocatorCalls(const sock_fprog& program) {
  constexpr uint64_t kLength = 1 << 20;
  constexpr uint64_t kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  constexpr uint64_t kNoFile = ~uint64_t{0};
  return Allows(program, SYS_mmap, kLength, PROT_READ | PROT_WRITE, kFlags, kNoFile) &&
         Allows(program, SYS_mmap, kLength, PROT_NONE, kFlags, kNoFile) &&
         Allows(program, SYS_munmap, kLength, 0, 0, 0) &&
         Allows(program, SYS_mprotect, kLength, PROT_READ | PROT_WRITE, 0, 0);
}

}  // namespace memprof
