// A hook of a function to which it matters who called it, and which takes that from its return
// address (RUNPATH, RTLD_NEXT, namespaces): it does what is its own and then jumps to the real
// function, which returns to the caller.
//
//   extern "C" MEMPROF_BEFORE_JUMP memprof_before_dlopen(const char* file, int mode) {
//     …
//     return the real dlopen;
//   }
//   MEMPROF_JUMP_HOOK(dlopen, ".globl", memprof_before_dlopen);
//
// In a file that isn't compiled for the optimiser of the whole library, which doesn't see names in
// assembler.
#pragma once

#define MEMPROF_BEFORE_JUMP __attribute__((visibility("hidden"), used)) void*

// Three arguments at most; the stack is aligned for the call with them on it.
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
