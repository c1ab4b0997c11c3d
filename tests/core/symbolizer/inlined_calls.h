// Declarations that both files of the program inlined_calls share.
#pragma once

// Prints "label 0xoffset": the return address of the call, in the terms of the file.
void Here(const char* label);

// Keeps the call before it from becoming a jump, so that it has a return address of its own.
inline void NoTailCall() { asm volatile(""); }

void CallFromSecondFile();

// The two files give different places for this function. The linker keeps the code of the first,
// and the debug info of the second claims that code as its own.
#ifdef SECOND_FILE
#line 200 "ideas/second.h"
#else
#line 100 "ideas/first.h"
#endif
[[gnu::noinline]] inline void InBothFiles() {
  Here("in both files");  // 102 or 202
  NoTailCall();
}
