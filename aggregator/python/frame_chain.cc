#include "aggregator/python/frame_chain.h"

namespace memprof {
namespace {

bool IsPlausible(uintptr_t address) {
  return address % sizeof(uintptr_t) == 0 && address >= 4096 && address < uintptr_t{1} << 47;
}

uintptr_t WordAt(const unsigned char* bytes, uint32_t offset) {
  uintptr_t word;
  __builtin_memcpy(&word, bytes + offset, sizeof word);
  return word;
}

bool ReadFrame(const InterpreterLayout& layout, const InterpreterMemory& memory, uintptr_t address,
               PythonFrame& frame) {
  unsigned char bytes[kMostFrameBytes];
  if (!IsPlausible(address) || !memory.Copy(address, bytes, layout.frame_bytes)) return false;
  frame.address = address;
  frame.previous = WordAt(bytes, layout.frame_previous);
  frame.code_word = WordAt(bytes, layout.frame_code);
  frame.instruction = WordAt(bytes, layout.frame_instruction);
  const bool shim = layout.frame_owner != 0 && bytes[layout.frame_owner] >= kShimOwner;
  frame.code = shim ? 0 : frame.code_word & layout.code_mask;
  frame.word = 0;
  frame.after = -1;
  return frame.previous != address;
}

// The activations' records, outwards from `cframe`.
bool ReadCFrames(const InterpreterLayout& layout, const InterpreterMemory& memory, uintptr_t cframe,
                 FrameChain& chain) {
  while (cframe != 0) {
    if (chain.cframe_count == FrameChain::kCapacity) return true;
    FrameChain::CFrame& record = chain.cframes[chain.cframe_count];
    record.address = cframe;
    uintptr_t before = 0;
    if (!IsPlausible(cframe) || !memory.Load(cframe + layout.cframe_frame, record.frame) ||
        !memory.Load(cframe + layout.cframe_before, before) || before == cframe) {
      return false;
    }
    ++chain.cframe_count;
    cframe = before;
  }
  return true;
}

bool ReadFrames(const InterpreterLayout& layout, const InterpreterMemory& memory, uintptr_t head,
                FrameChain& chain) {
  uint32_t shown = 0;
  for (uintptr_t at = head; at != 0;) {
    if (shown == kMaxPythonFrames || chain.count == FrameChain::kCapacity) {
      chain.cut = true;
      return true;
    }
    PythonFrame& frame = chain.frames[chain.count];
    if (!ReadFrame(layout, memory, at, frame)) return false;
    ++chain.count;
    shown += frame.code != 0;
    at = frame.previous;
  }
  return true;
}

}  // namespace

void ReadChain(const InterpreterLayout& layout, const InterpreterMemory& memory,
               uintptr_t thread_state, uintptr_t finalizing, FrameChain& chain) {
  chain.thread_state = thread_state;
  chain.finalizing = finalizing;
  chain.count = 0;
  chain.cframe_count = 0;
  chain.cut = false;
  chain.valid = true;
  // While the interpreter ends, other threads' states are freed under them.
  if (thread_state == 0 || (finalizing != 0 && finalizing != thread_state)) return;
  uintptr_t head = 0;
  chain.valid = IsPlausible(thread_state) && memory.Load(thread_state + layout.thread_frame, head);
  if (chain.valid && layout.has_cframe) {
    const uintptr_t cframe = head;
    chain.valid =
        IsPlausible(cframe) && memory.Load(cframe + layout.cframe_frame, head) &&
        (layout.boundary != PythonBoundary::kCFrames || ReadCFrames(layout, memory, cframe, chain));
  }
  chain.valid = chain.valid && ReadFrames(layout, memory, head, chain);
  if (!chain.valid) chain.count = chain.cframe_count = 0;
}

int32_t InstructionOf(const InterpreterLayout& layout, const PythonFrame& frame) {
  constexpr uintptr_t kMostUnits = 1u << 28;
  if (!layout.instruction_is_pointer) {
    const auto number = static_cast<int32_t>(static_cast<uint32_t>(frame.instruction));
    return number < 0 ? -1 : number >> layout.instruction_shift;
  }
  const uintptr_t first = frame.code + layout.code_instructions;
  const uintptr_t units = (frame.instruction - first) / 2;
  return frame.instruction < first || units >= kMostUnits ? -1 : static_cast<int32_t>(units);
}

}  // namespace memprof
