#include "aggregator/events/python_frames.h"

#include <cstring>

#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/python/frame_places.h"
#include "aggregator/python/interpreter.h"
#include "aggregator/python/own_memory.h"

namespace memprof {

constinit std::atomic<bool> python_frames{false};

namespace {

using Dealloc = void(void*);

constinit Interpreter interpreter;
constinit std::atomic<uint32_t> found{0};  // PythonState, once something was found
constinit std::atomic<bool> looking{false};
constinit bool may_unload = false;  // the interpreter came by dlopen
constinit std::atomic<uint32_t> modules_looked_at{0};
// How many code objects that had a record died. A word that remembered stacks are verified by.
alignas(8) constinit uint64_t code_deaths = 0;
constinit std::atomic<Dealloc*> free_code{nullptr};  // the interpreter's own function

// Stands in for the interpreter's function that frees a code object.
void OnCodeFreed(void* code) {
  if (python_codes.Forget(reinterpret_cast<uintptr_t>(code))) {
    __atomic_fetch_add(&code_deaths, 1, __ATOMIC_ACQ_REL);
  }
  free_code.load(std::memory_order_relaxed)(code);
}

std::atomic<Dealloc*>& FreeCodeOf(uintptr_t type) {
  return *reinterpret_cast<std::atomic<Dealloc*>*>(type + kTypeDealloc);
}

bool WatchCode() {
  std::atomic<Dealloc*>& place = FreeCodeOf(interpreter.code_type());
  Dealloc* own = place.load(std::memory_order_acquire);
  if (own == nullptr) return false;
  if (own == OnCodeFreed) return true;
  free_code.store(own, std::memory_order_release);
  return place.compare_exchange_strong(own, OnCodeFreed, std::memory_order_acq_rel);
}

void Publish(PythonState state) {
  found.store(static_cast<uint32_t>(state), std::memory_order_relaxed);
  RegionHeader& header = process_region.header();
  header.python_version.store(interpreter.version(), std::memory_order_relaxed);
  header.python.store(static_cast<uint32_t>(state), std::memory_order_release);
}

// `in`: the only object to look in; nullptr: all of them.
void Look(const link_map* in) {
  if (looking.exchange(true, std::memory_order_acq_rel)) return;
  if (found.load(std::memory_order_relaxed) == 0) {
    PythonState state = interpreter.Find(in);
    if (state == PythonState::kFrames && (!python_codes.Start() || !WatchCode())) {
      state = PythonState::kUnsuitable;
    }
    if (state != PythonState::kNoInterpreter) Publish(state);
    may_unload = in != nullptr;
    RegionHeader& header = process_region.header();
    if (state == PythonState::kFrames && in != nullptr && header.options.python_objects != 0) {
      header.python_objects.store(static_cast<uint32_t>(PythonObjects::kLate),
                                  std::memory_order_relaxed);
    }
    python_frames.store(state == PythonState::kFrames, std::memory_order_release);
    // Stacks that were remembered until now are not verified by their Python frames.
    if (state == PythonState::kFrames) InvalidateUnwinder();
  }
  looking.store(false, std::memory_order_release);
}

bool Wanted() { return process_region.header().options.python != 0; }

PythonStack* PythonStackOf(ThreadSlot& slot) {
  constexpr int64_t kTouched = 5 * int64_t{kPageBytes};  // by chains of usual length
  if (slot.python == nullptr) {
    slot.python = static_cast<PythonStack*>(MapMemory(sizeof(PythonStack)));
    if (slot.python != nullptr) CountPrivateBytes(kTouched);
  }
  return slot.python;
}

// The word of a frame: its code's record and its instruction. 0: it is not shown, since it is none
// of the program's, or (`unread`) could not be read.
uint64_t WordOf(const InterpreterMemory& memory, const PythonFrame& frame, bool& unread) {
  if (frame.code == 0) return 0;
  const InterpreterLayout& layout = interpreter.layout();
  uint32_t record = python_codes.Find(frame.code);
  if (record == PythonCodes::kNone) {
    CodeObject code;
    if (OpenCode(layout, memory, interpreter.code_type(), frame.code, code)) {
      if (code.stands_for_native) return 0;
      record = python_codes.Enter(layout, memory, frame.code, code);
    }
  }
  if (record == PythonCodes::kNone) {
    unread = true;
    return 0;
  }
  return PythonWord(record, InstructionOf(layout, frame));
}

}  // namespace

void StartPython() {
  if (!Wanted()) return;
  Look(nullptr);
  modules_looked_at.store(process_region.count(Table::kModules), std::memory_order_relaxed);
}

void RestartPython() {
  modules_looked_at.store(0, std::memory_order_relaxed);
  const auto state = static_cast<PythonState>(found.load(std::memory_order_relaxed));
  if (state == PythonState::kNoInterpreter) return;
  Publish(state);
  if (state == PythonState::kFrames && !python_codes.Start()) {
    python_frames.store(false, std::memory_order_release);
  }
}

void StopPython() {
  if (!python_frames.exchange(false, std::memory_order_acq_rel)) return;
  Dealloc* ours = OnCodeFreed;
  FreeCodeOf(interpreter.code_type())
      .compare_exchange_strong(ours, free_code.load(std::memory_order_relaxed),
                               std::memory_order_acq_rel);
  found.store(0, std::memory_order_relaxed);
}

void LookForPythonInNewModules() {
  const uint32_t count = process_region.count(Table::kModules);
  uint32_t looked_at = modules_looked_at.load(std::memory_order_relaxed);
  if (looked_at == count || !Wanted() || found.load(std::memory_order_relaxed) != 0) return;
  if (!modules_looked_at.compare_exchange_strong(looked_at, count, std::memory_order_relaxed)) {
    return;
  }
  const FindObject find = TheLibc().find_object;
  const auto* records = process_region.Records<ModuleRecord>(Table::kModules);
  for (uint32_t i = looked_at; i < count; ++i) {
    dl_find_object object;
    // The caller's stack is in the new module, or it was entered by another thread just now.
    if (records[i].end.load(std::memory_order_acquire) == 0 || modules.IsUnloaded(i) ||
        find(reinterpret_cast<void*>(records[i].start), &object) != 0) {
      continue;
    }
    Look(object.dlfo_link_map);
  }
}

void BeforePythonMayUnload() {
  if (may_unload) python_frames.store(false, std::memory_order_release);
}

void AfterPythonMayUnload() {
  if (!may_unload) return;
  const FindObject find = TheLibc().find_object;
  dl_find_object object;
  const bool still =
      find != nullptr && find(reinterpret_cast<void*>(interpreter.code_type()), &object) == 0;
  if (!still) {
    may_unload = false;
    found.store(0, std::memory_order_relaxed);
  }
  const auto state = static_cast<PythonState>(found.load(std::memory_order_relaxed));
  python_frames.store(state == PythonState::kFrames, std::memory_order_release);
}

const Splice* PythonFramesOf(ThreadSlot& slot, CaptureResult& capture) {
  PythonStack* const stack = PythonStackOf(slot);
  if (stack == nullptr) return nullptr;
  stack->newer = 1 - stack->newer;
  FrameChain& chain = stack->now();
  const InterpreterLayout& layout = interpreter.layout();
  const InterpreterMemory memory = OwnMemory();
  uintptr_t finalizing = 0;
  memory.Load(interpreter.finalizing_word(), finalizing);
  // A remembered stack has no signal frame, so this one is never verified.
  const bool within_signal = HasSignalFrame(slot.stack, capture.depth);
  uintptr_t state = 0;
  const bool known = within_signal || interpreter.ThreadState(memory, state);
  ReadChain(layout, memory, known ? state : 0, finalizing, chain);
  if (!known) chain.valid = false;
  bool unread = !chain.valid;
  PlaceFrames(layout, interpreter.eval(), slot.stack.frames, capture.depth, chain);
  for (uint32_t i = 0; i < chain.count; ++i) {
    chain.frames[i].word = WordOf(memory, chain.frames[i], unread);
  }
  if (unread) Count(process_region.header().python_unread);
  capture.unchanged = UnchangedUpTo(stack->before(), chain, capture.unchanged);
  if (chain.count == 0) return nullptr;
  if (chain.cut && !capture.truncated) Count(process_region.header().truncated_stacks);
  return &chain;
}

bool WordsOfPython(ThreadSlot& slot, PythonWords& words) {
  if (slot.python == nullptr) return false;
  const FrameChain& chain = slot.python->now();
  // Without Python frames the native stack has no activation of the interpreter either, and the
  // same native stack never has one.
  if (chain.valid && chain.count == 0 && chain.thread_state == 0) return true;
  words.words = slot.python->words;
  words.count = slot.python->ListWords(interpreter, &code_deaths);
  return words.count != 0;
}

}  // namespace memprof
