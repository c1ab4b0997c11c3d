// Frames that no compiler would make, written in assembly together with the CFI under test.
#pragma once

#include <cstdint>

extern "C" {

// CFA in rbx, as glibc's _dl_runtime_resolve has it.
void MemprofCallByRbx(void (*leaf)());
// Switches to the stack that ends at `stack_top`, and its CFI says so: the CFA is in rbp.
void MemprofCallOnStack(void (*leaf)(), void* stack_top);
// The same without any CFI.
void MemprofCallOnStackWithoutCfi(void (*leaf)(), void* stack_top);
// A plain frame without any CFI.
void MemprofCallWithoutCfi(void (*leaf)());
// CFI with six rows that are remembered at the call, and restored after it.
void MemprofCallWithDeepRows(void (*leaf)());
// CFI that lies: it says that the CFA is at rbp + 16, while rbp is `rbp`.
void MemprofCallWithLyingCfi(void (*leaf)(), uintptr_t rbp);
// Sets the trap flag, calls function, clears it: SIGTRAP after every instruction.
void MemprofCallStepping(void (*function)());
}
