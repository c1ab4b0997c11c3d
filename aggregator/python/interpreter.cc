#include "aggregator/python/interpreter.h"

#include <cstring>

#include "aggregator/basics/loaded_symbols.h"

namespace memprof {
namespace {

// In all objects the first definition in the loader's order: an executable may have a copy of a
// library's variable, which is then the one in use.
void* FindFirst(const link_map* in, const char* name) {
  if (in != nullptr) return FindIn(*in, name);
  for (const link_map* object = LoadedObjects(); object != nullptr; object = object->l_next) {
    if (void* found = FindIn(*object, name)) return found;
  }
  return nullptr;
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
  void* const get = FindFirst(in, "PyGILState_GetThisThreadState");
  if (code_type_ == 0 || get == nullptr) return PythonState::kUnsuitable;
  memcpy(&get_thread_state_, &get, sizeof get);
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

}  // namespace memprof
