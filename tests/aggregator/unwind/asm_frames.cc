#include "tests/aggregator/unwind/asm_frames.h"

#define FUNCTION(name) \
  ".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name) ".size " #name ", . - " #name "\n"

__asm__(FUNCTION(MemprofCallByRbx) R"(
  .cfi_startproc
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbx, 0
  mov %rsp, %rbx
  .cfi_def_cfa_register rbx
  sub $32, %rsp
  and $-64, %rsp
  call *%rdi
  mov %rbx, %rsp
  .cfi_def_cfa_register rsp
  pop %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  ret
  .cfi_endproc
)" END(MemprofCallByRbx)

            FUNCTION(MemprofCallOnStack) R"(
  .cfi_startproc
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  mov %rsp, %rbp
  .cfi_def_cfa_register rbp
  mov %rsi, %rsp
  call *%rdi
  mov %rbp, %rsp
  .cfi_def_cfa_register rsp
  pop %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  ret
  .cfi_endproc
)" END(MemprofCallOnStack)

                FUNCTION(MemprofCallOnStackWithoutCfi) R"(
  push %rbp
  mov %rsp, %rbp
  mov %rsi, %rsp
  call *%rdi
  mov %rbp, %rsp
  pop %rbp
  ret
)" END(MemprofCallOnStackWithoutCfi)

                    FUNCTION(MemprofCallWithoutCfi) R"(
  sub $8, %rsp
  call *%rdi
  add $8, %rsp
  ret
)" END(MemprofCallWithoutCfi)

                        FUNCTION(MemprofCallWithDeepRows) R"(
  .cfi_startproc
  nop
  .cfi_remember_state
  nop
  .cfi_remember_state
  nop
  .cfi_remember_state
  nop
  .cfi_remember_state
  nop
  .cfi_remember_state
  nop
  .cfi_remember_state
  sub $24, %rsp
  .cfi_adjust_cfa_offset 24
  call *%rdi
  add $24, %rsp
  .cfi_restore_state
  .cfi_restore_state
  .cfi_restore_state
  .cfi_restore_state
  .cfi_restore_state
  .cfi_restore_state
  ret
  .cfi_endproc
)" END(MemprofCallWithDeepRows)

                            FUNCTION(MemprofCallWithLyingCfi) R"(
  .cfi_startproc
  push %rbp
  .cfi_def_cfa rbp, 16
  mov %rsi, %rbp
  call *%rdi
  pop %rbp
  ret
  .cfi_endproc
)" END(MemprofCallWithLyingCfi)

                                FUNCTION(MemprofCallStepping) R"(
  .cfi_startproc
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  pushfq
  .cfi_adjust_cfa_offset 8
  orl $0x100, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  call *%rdi
  pushfq
  .cfi_adjust_cfa_offset 8
  andl $~0x100, (%rsp)
  popfq
  .cfi_adjust_cfa_offset -8
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
)" END(MemprofCallStepping));
