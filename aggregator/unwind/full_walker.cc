#include "aggregator/unwind/full_walker.h"

#include "aggregator/unwind/unwind_data.h"
#include "core/region_layout.h"

namespace memprof {
namespace {

// The unwinder's and the hook's own frames, above the deepest stack that is kept.
constexpr uint32_t kMaxSteps = kMaxFrames + 64;

// The registers that a call preserves, of the function this is inlined into.
[[gnu::always_inline]] inline void ReadOwnRegisters(Registers& registers) {
  uintptr_t pc, sp, rbx, rbp, r12, r13, r14, r15;
  __asm__ volatile(
      "lea 0(%%rip), %0\n\t"
      "mov %%rsp, %1\n\t"
      "mov %%rbx, %2\n\t"
      "mov %%rbp, %3"
      : "=&r"(pc), "=&r"(sp), "=&r"(rbx), "=&r"(rbp)
      :
      : "memory");
  __asm__ volatile(
      "mov %%r12, %0\n\t"
      "mov %%r13, %1\n\t"
      "mov %%r14, %2\n\t"
      "mov %%r15, %3"
      : "=&m"(r12), "=&m"(r13), "=&m"(r14), "=&m"(r15)
      :
      : "memory");
  registers.known = 0;
  registers.Set(kRbx, rbx);
  registers.Set(kRbp, rbp);
  registers.Set(kRsp, sp);
  registers.Set(kR12, r12);
  registers.Set(13, r13);
  registers.Set(14, r14);
  registers.Set(kR15, r15);
  registers.Set(kReturnAddress, pc + 1);
}

}  // namespace

// The asm statements below need the frame that they describe to stay: all steps through our own
// frames are made from within this very call.
[[gnu::noinline]] bool FullWalker::AdvanceTo(uintptr_t pc, uintptr_t sp,
                                             const ReadableStack& stack) {
  if (lost_) return false;
  if (!begun_) {
    ReadOwnRegisters(registers_);
    begun_ = true;
  }
  for (uint32_t steps = 0; steps < kMaxSteps; ++steps) {
    if (registers_.value[kReturnAddress] == pc && registers_.value[kRsp] == sp) return true;
    CfiRow row;
    ByteRange bytes;
    if (FindRow(registers_.value[kReturnAddress] - 1, row, bytes) != CfiResult::kFound ||
        StepByRow(row, bytes, stack, registers_) != FullStep::kStepped) {
      break;
    }
  }
  lost_ = true;
  return false;
}

}  // namespace memprof
