// Interpreter: the CPython in this process.
//
// It is found by its exported names in the loaded objects, without dlsym. It may be in the
// executable, in libpython, or in a libpython that is opened later.
//
// Thread safety: Find as LoadedSymbols (basics/loaded_symbols.h); all else by any thread,
// async-signal-safe.
#pragma once

#include <link.h>

#include <cstdint>

#include "aggregator/python/eval_code.h"
#include "aggregator/python/interpreter_layout.h"
#include "aggregator/python/interpreter_memory.h"
#include "aggregator/unwind/readable_stack.h"

namespace memprof {

class Interpreter {
 public:
  // Looks in this object; nullptr: in all loaded objects. kNoInterpreter: there is none. kFrames: it
  // can be read. Pre: the object is relocated.
  PythonState Find(const link_map* in);

  const InterpreterLayout& layout() const { return layout_; }
  const EvalCode& eval() const { return eval_; }
  uintptr_t code_type() const { return code_type_; }
  uint32_t version() const { return version_; }

  // The calling thread's state; 0: it has none. The interpreter's function only reads a
  // thread-specific value. It is also right while the thread has released the interpreter's lock.
  // False: it isn't known. Up to 3.11 that value stays the state of the first interpreter that the
  // thread had. While the process has several, only the thread that holds their lock knows its own.
  bool ThreadState(const InterpreterMemory& memory, uintptr_t& state) const {
    state = get_thread_state_();
    return !StateIsOfFirst() || newest_() == main_() || HolderIsThisThread(memory, state);
  }

  bool StateIsOfFirst() const { return newest_ != nullptr; }

  // Then: the word that changes when there is another interpreter. 0: not known, or there is
  // another one now.
  uintptr_t newest_word() const;

  // The runtime's word that says which thread ends the interpreter; 0: none does.
  uintptr_t finalizing_word() const { return runtime_ + layout_.runtime_finalizing; }

 private:
  PythonState FindLayout(const link_map* in);
  bool HolderIsThisThread(const InterpreterMemory& memory, uintptr_t& state) const;

  InterpreterLayout layout_;
  EvalCode eval_;
  uintptr_t runtime_ = 0;
  uintptr_t code_type_ = 0;
  uintptr_t (*get_thread_state_)() = nullptr;
  // Up to 3.11, otherwise nullptr. All three only read a word.
  uintptr_t (*newest_)() = nullptr;  // interpreter
  uintptr_t (*main_)() = nullptr;
  uintptr_t (*lock_holder_)() = nullptr;  // the thread state that holds the lock
  uint32_t version_ = 0;
};

inline uintptr_t Interpreter::newest_word() const {
  // The runtime has the newest and the main interpreter side by side, not far from its beginning.
  constexpr uintptr_t kSearched = 32 * sizeof(uintptr_t);
  const uintptr_t main = main_();
  if (main == 0 || newest_() != main) return 0;
  for (uintptr_t at = runtime_; at < runtime_ + kSearched; at += sizeof(uintptr_t)) {
    if (LoadWord(at) == main && LoadWord(at + sizeof(uintptr_t)) == main) return at;
  }
  return 0;
}

}  // namespace memprof
