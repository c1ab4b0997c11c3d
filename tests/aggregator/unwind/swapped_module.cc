// A module whose function has the same code in every build, byte for byte except for the frame's
// size, at the same offset. If it is loaded at the place of another build, it has the same pcs and
// other frames.

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

// MEMPROF_FRAME_BYTES: from the build; at least 136, so that its encoding has one length.
__asm__(R"(
  .text
  .globl MemprofModuleCall
  .type MemprofModuleCall, @function
  .p2align 12
MemprofModuleCall:
  .cfi_startproc
  sub $)" STRING(MEMPROF_FRAME_BYTES) R"(, %rsp
  .cfi_adjust_cfa_offset )" STRING(MEMPROF_FRAME_BYTES) R"(
  call *%rdi
  add $)" STRING(MEMPROF_FRAME_BYTES) R"(, %rsp
  .cfi_adjust_cfa_offset -)" STRING(MEMPROF_FRAME_BYTES) R"(
  ret
  .cfi_endproc
  .size MemprofModuleCall, . - MemprofModuleCall
)");
