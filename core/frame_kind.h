// FrameKind: classifies a frame, so that reports can fold away frames that explain nothing. A
// folded frame gives its bytes to its caller: no figure changes.
//
// Thread safety: ClassifyFrame and IsOwnModule may be called by any thread. AddWrapper may not be
// called while another thread is in ClassifyFrame.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace memprof {

enum class FrameKind : uint8_t {
  kProgram = 0,  // code of the program or of its libraries
  kSystem = 1,   // the allocator's plumbing and the start of programs and threads: libc, the
                 // loader, the C++ runtime, allocators, std:: templates, operator new; Python
                 // code that is built into the interpreter
  kRow = 2,      // no code: "[truncated]", "[pruned]", … Never folded.
  // Code of a Python interpreter where Python frames stand for it. ClassifyFrame doesn't know of
  // stacks, and never says this.
  kInterpreter = 3,
};

// Functions for which this is true are the allocator's plumbing from now on, for the whole process:
// the wrappers that a user names for one command.
void AddWrapper(std::function<bool(std::string_view function)> is_wrapper);

// `module` is a path or a base name, for a Python frame that of its source file; both arguments may
// be empty.
FrameKind ClassifyFrame(std::string_view function, std::string_view module);

// True for the code of a Python interpreter: its executable, or libpython. Its frames explain nothing
// where Python frames stand for them.
bool IsInterpreterModule(std::string_view module);

// True for memprof's own libraries. They are in stacks below the hooks of exit, dlclose and others.
bool IsOwnModule(std::string_view module);

}  // namespace memprof
