// A hook of a function that takes its caller from its return address (RUNPATH, RTLD_NEXT,
// namespaces). The hook does its own part and then jumps to the real function, which returns to the
// caller.
//
//   extern "C" MEMPROF_BEFORE_JUMP memprof_before_dlopen(const char* file, int mode) {
//     …
//     return the real dlopen;
//   }
//   MEMPROF_JUMP_HOOK(dlopen, ".globl", memprof_before_dlopen);
//
// The file that uses it must not be compiled for link-time optimisation, which doesn't see names in
// assembler.
#pragma once

#define MEMPROF_BEFORE_JUMP __attribute__((visibility("hidden"), used)) void*

// At most three arguments; the stack is aligned for the call with them on it.
#define MEMPROF_JUMP_HOOK(name, visibility, before) \
  __asm__(                                          \
      ".text\n"                                     \
      ".globl " #name "\n" visibility " " #name     \
      "\n"                                          \
      ".type " #name ", @function\n" #name          \
      ":\n"                                         \
      ".cfi_startproc\n"                            \
      "endbr64\n"                                   \
      "pushq %rdi\n"                                \
      ".cfi_adjust_cfa_offset 8\n"                  \
      "pushq %rsi\n"                                \
      ".cfi_adjust_cfa_offset 8\n"                  \
      "pushq %rdx\n"                                \
      ".cfi_adjust_cfa_offset 8\n"                  \
      "call " #before                               \
      "\n"                                          \
      "popq %rdx\n"                                 \
      ".cfi_adjust_cfa_offset -8\n"                 \
      "popq %rsi\n"                                 \
      ".cfi_adjust_cfa_offset -8\n"                 \
      "popq %rdi\n"                                 \
      ".cfi_adjust_cfa_offset -8\n"                 \
      "jmp *%rax\n"                                 \
      ".cfi_endproc\n"                              \
      ".size " #name ", .-" #name "\n")
