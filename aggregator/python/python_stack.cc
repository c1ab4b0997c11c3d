#include "aggregator/python/python_stack.h"

#include "aggregator/python/thread_word.h"

namespace memprof {

uint32_t PythonStack::ListWords(const Interpreter& interpreter, const uint64_t* code_deaths) {
  const FrameChain& chain = now();
  const InterpreterLayout& layout = interpreter.layout();
  const uintptr_t thread_word = ThreadWordOf(chain.thread_state);
  if (thread_word == 0 || !chain.valid) return 0;
  uint32_t count = 0;
  const auto add = [&](uintptr_t address, uintptr_t value) { words[count++] = {address, value}; };
  add(interpreter.finalizing_word(), chain.finalizing);
  if (interpreter.StateIsOfFirst()) {
    const uintptr_t newest = interpreter.newest_word();
    // The thread may run another interpreter soon, which that word doesn't tell.
    if (newest == 0) return 0;
    add(newest, LoadWord(newest));
  }
  add(thread_word, chain.thread_state);
  // Code that died since may have been replaced by other code at its address.
  add(reinterpret_cast<uintptr_t>(code_deaths), *code_deaths);
  if (chain.finalizing != 0 && chain.finalizing != chain.thread_state) return count;
  uintptr_t head = chain.count > 0 ? chain.frames[0].address : 0;
  uintptr_t at = chain.thread_state + layout.thread_frame;
  if (layout.has_cframe) {
    const uintptr_t cframe = LoadWord(at);
    add(at, cframe);
    at = cframe + layout.cframe_frame;
    head = LoadWord(at);
  }
  add(at, head);
  for (uint32_t i = 0; i < chain.cframe_count; ++i) {
    const FrameChain::CFrame& record = chain.cframes[i];
    if (i > 0) add(record.address + layout.cframe_frame, record.frame);
    if (i + 1 < chain.cframe_count) {
      add(record.address + layout.cframe_before, chain.cframes[i + 1].address);
    }
  }
  for (uint32_t i = 0; i < chain.count; ++i) {
    const PythonFrame& frame = chain.frames[i];
    // A pointer into code that lives also tells which code it is.
    if (!layout.instruction_is_pointer || frame.code == 0) {
      add(frame.address + layout.frame_code, frame.code_word);
    }
    if (frame.code != 0) add(frame.address + layout.frame_instruction, frame.instruction);
    add(frame.address + layout.frame_previous, frame.previous);
  }
  return count;
}

uint32_t UnchangedUpTo(const FrameChain& before, const FrameChain& now, uint32_t unchanged) {
  if (before.cut || now.cut) return 0;
  uint32_t old_left = before.count;
  uint32_t new_left = now.count;
  const auto limit = [&](const FrameChain& chain, uint32_t left) {
    if (left == 0) return;
    const int32_t after = chain.frames[left - 1].after;
    const uint32_t most = after > 0 ? static_cast<uint32_t>(after) : 0;
    if (most < unchanged) unchanged = most;
  };
  while (old_left > 0 && new_left > 0 &&
         before.frames[old_left - 1].word == now.frames[new_left - 1].word &&
         before.frames[old_left - 1].after == now.frames[new_left - 1].after) {
    --old_left;
    --new_left;
  }
  limit(before, old_left);
  limit(now, new_left);
  return unchanged;
}

}  // namespace memprof
