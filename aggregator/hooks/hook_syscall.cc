// syscall(): libseccomp sets its filters by it, and the tracker has to know of them.
//
// Compiled without link-time optimisation, which doesn't see names in assembler.

#include <sys/syscall.h>

// libc's syscall(), except that seccomp and prctl are noticed: libseccomp sets its filters by them.
// In assembler, since a fork or a vfork made by it returns twice from this frame: nothing is kept
// on the stack.
__asm__(R"(
  .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmpq $157, %rdi
  je memprof_noted_syscall
  cmpq $317, %rdi
  je memprof_noted_syscall
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  cmpq $-4095, %rax
  jae 1f
  ret
1:
  movq %rax, %rdi
  jmp memprof_failed_syscall
  .cfi_endproc
  .size syscall, .-syscall
)");
static_assert(SYS_prctl == 157 && SYS_seccomp == 317);
