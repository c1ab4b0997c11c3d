// What both files of the program inlined_calls see.
#pragma once

// Prints "label 0xoffset": the return address of the call, in the terms of the file.
void Here(const char* label);

// Keeps the call before it from becoming a jump, so that it has a return address of its own.
inline void NoTailCall() { asm volatile(""); }

void CallFromSecondFile();

// Each file has its own idea of where this function stands. The linker keeps the code of the first,
// and leaves in the debug info of the second that it were its own.
#ifdef SECOND_FILE
#line 200 "ideas/second.h"
#else
#line 100 "ideas/first.h"
#endif
[[gnu::noinline]] inline void InBothFiles() {
  Here("in both files");  // 102 or 202
  NoTailCall();
}
