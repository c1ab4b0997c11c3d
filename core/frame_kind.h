// FrameKind: what a frame is to the reader of a page, so that frames which explain nothing can be
// folded away. A frame that is folded gives its bytes to its caller: no figure changes.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace memprof {

enum class FrameKind : uint8_t {
  kProgram = 0,  // code of the program or of its libraries
  kSystem = 1,   // the allocator's plumbing and the start of programs and threads: libc, the
                 // loader, the C++ runtime, allocators, std:: templates, operator new
  kRow = 2,      // no code: "[truncated]", "[pruned]", … Never folded.
};

// `module` is a path or a base name; both arguments may be empty.
FrameKind ClassifyFrame(std::string_view function, std::string_view module);

// Whether it is one of memprof's own libraries, which are in stacks below their hooks of exit,
// dlclose and the like.
bool IsOwnModule(std::string_view module);

}  // namespace memprof
