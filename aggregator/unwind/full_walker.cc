#include "aggregator/unwind/full_walker.h"

#include "aggregator/unwind/unwind_data.h"
#include "core/protocol/region_layout.h"

namespace memprof {
namespace {

// The deepest stack that is kept, plus the unwinder's and the hook's own frames.
constexpr uint32_t kMaxSteps = kMaxFrames + 64;

// The registers that calls preserve, in the function that this is inlined into.
[[gnu::always_inline]] inline void ReadOwnRegisters(Registers& registers) {
  uintptr_t own[8];
  // One statement, so that all are from one pc; through rax and rcx, which are not among them.
  __asm__ volatile(
      "mov %%rbx, 0(%0)\n\t"
      "mov %%rbp, 8(%0)\n\t"
      "mov %%rsp, 16(%0)\n\t"
      "mov %%r12, 24(%0)\n\t"
      "mov %%r13, 32(%0)\n\t"
      "mov %%r14, 40(%0)\n\t"
      "mov %%r15, 48(%0)\n\t"
      "lea 0(%%rip), %%rcx\n\t"
      "mov %%rcx, 56(%0)"
      :
      : "a"(own)
      : "rcx", "memory");
  registers.known = 0;
  constexpr uint32_t kOrder[] = {kRbx, kRbp, kRsp, kR12, 13, 14, kR15};
  for (uint32_t i = 0; i < 7; ++i) registers.Set(kOrder[i], own[i]);
  // Looked up as all pcs are, by its address minus one; the pc of the lea itself.
  registers.Set(kReturnAddress, own[7]);
}

}  // namespace

// The registers that are read here describe this frame, so all steps out of our own frames have to
// be made before it returns.
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
