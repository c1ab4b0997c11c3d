// PythonFrames: the Python frames of an event's stack.
//
// Its own interpreter is looked for when the process starts, in what a new stack passes through
// later, and again in a forked child. Once one is found, every captured stack gets the Python frames
// that its thread is in; a stack that comes again is verified by its words, Python frames included,
// without a call into the interpreter.
//
// No Python frames are read
//   - below a signal handler that allocates: the interpreter may be in the middle of a step;
//   - while another thread ends the interpreter;
//   - in an event without a slot.
//
// Thread safety: any thread; a slot is its owner's. Async-signal-safe, except StartPython.
// Failure: native frames only, counted if the chain could not be read (RegionHeader.python_unread).
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/state/process_tables.h"
#include "aggregator/unwind/stack_capture.h"

namespace memprof {

// An interpreter's frames are read.
extern constinit std::atomic<bool> python_frames;
inline bool HasPythonFrames() {
  return __builtin_expect(python_frames.load(std::memory_order_acquire), 0);
}

// Looks for an interpreter in the loaded objects. Pre: the loader's list may be read, and the
// objects are relocated.
void StartPython();
// In a forked child, whose region is another one.
void RestartPython();
// The tracker stops: the interpreter is left as it was.
void StopPython();

// Looks for one in the modules that stacks passed through since the last call.
void LookForPythonInNewModules();

// Around a dlclose: the interpreter may be what is unloaded.
void BeforePythonMayUnload();
void AfterPythonMayUnload();

// The Python frames for the stack that was just captured into the slot's memory; nullptr: there are
// none. Lowers capture.unchanged to the frames that have the same Python frames before them.
// Pre: HasPythonFrames().
const Splice* PythonFramesOf(ThreadSlot& slot, CaptureResult& capture);

// The words that verify these frames. False: they can't be verified. Pre: as above, and
// PythonFramesOf was called for the slot's last capture.
struct PythonWords {
  const VerifiedWord* words = nullptr;
  uint32_t count = 0;
};
bool WordsOfPython(ThreadSlot& slot, PythonWords& words);

}  // namespace memprof
