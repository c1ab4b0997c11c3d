#include "aggregator/python/interpreter.h"

#include <cstring>

#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/unwind/readable_stack.h"

namespace memprof {
namespace {

void* FindFirst(const link_map* in, const char* name) {
  return in != nullptr ? FindIn(*in, name) : FindFirstDefinition(name);
}

uintptr_t AddressOf(const link_map* in, const char* name) {
  return reinterpret_cast<uintptr_t>(FindFirst(in, name));
}

// Before 3.11 the version is not in a variable, and the function that returns it formats a text. So
// it is told by names that each version added; 0: older than 3.8.
uint32_t MinorByNames(const link_map* in) {
  if (FindFirst(in, "PyCode_NewWithPosOnlyArgs") == nullptr) return 0;
  if (FindFirst(in, "PyFrame_GetCode") == nullptr) return 8;
  return FindFirst(in, "PyIter_Send") == nullptr ? 9 : 10;
}

}  // namespace

PythonState Interpreter::Find(const link_map* in) {
  version_ = 0;
  if (FindFirst(in, "Py_GetVersion") == nullptr) return PythonState::kNoInterpreter;
  runtime_ = AddressOf(in, "_PyRuntime");
  const PythonState known = FindLayout(in);
  if (known != PythonState::kFrames) return known;
  code_type_ = AddressOf(in, "PyCode_Type");
  const auto take = [in](const char* name, uintptr_t (*&function)()) {
    void* const found = FindFirst(in, name);
    memcpy(&function, &found, sizeof found);
    return found != nullptr;
  };
  if (code_type_ == 0 || !take("PyGILState_GetThisThreadState", get_thread_state_)) {
    return PythonState::kUnsuitable;
  }
  newest_ = nullptr;
  if (layout_.minor <= 11 && (!take("PyInterpreterState_Main", main_) ||
                              !take("_PyThreadState_UncheckedGet", lock_holder_) ||
                              !take("PyInterpreterState_Head", newest_))) {
    return PythonState::kUnsuitable;
  }
  if (layout_.boundary == PythonBoundary::kEvalCalls &&
      !eval_.Find(AddressOf(in, "_PyEval_EvalFrameDefault"))) {
    return PythonState::kUnsuitable;
  }
  return PythonState::kFrames;
}

PythonState Interpreter::FindLayout(const link_map* in) {
  const uintptr_t variable = AddressOf(in, "Py_Version");
  if (variable != 0) {
    uint64_t version;
    memcpy(&version, reinterpret_cast<const void*>(variable), sizeof version);
    version_ = static_cast<uint32_t>(version);
  } else {
    version_ = 3u << 24 | MinorByNames(in) << 16;
  }
  const uint32_t minor = version_ >> 16 & 0xff;
  if (runtime_ == 0 || version_ >> 24 != 3) return PythonState::kUnknownVersion;
  if (KnownLayout(minor, layout_)) return PythonState::kFrames;
  if (minor < 13) return PythonState::kUnknownVersion;
  uint64_t words[kPublishedWords];
  memcpy(words, reinterpret_cast<const void*>(runtime_), sizeof words);
  return PublishedLayout(words, layout_);
}

bool Interpreter::HolderIsThisThread(const InterpreterMemory& memory, uintptr_t& state) const {
  // A thread's state has pthread_self() in one of its first words.
  constexpr uintptr_t kSearched = 40 * sizeof(uintptr_t);
  const uintptr_t holder = lock_holder_();
  for (uintptr_t at = 0; holder != 0 && at < kSearched; at += sizeof(uintptr_t)) {
    uintptr_t word = 0;
    if (!memory.Load(holder + at, word)) return false;
    if (word != ThreadPointer()) continue;
    state = holder;
    return true;
  }
  return false;
}

}  // namespace memprof
