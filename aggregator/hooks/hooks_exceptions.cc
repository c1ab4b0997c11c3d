// __cxa_allocate_exception. A failing operator new makes its std::bad_alloc while the thread's
// kInAllocator says that all allocations belong to one event. But the exception outlives that
// event, and the program's handler frees it. So its memory is an allocation of its own.

#include "aggregator/hooks/hook.h"

using namespace memprof;

namespace {

using AllocateException = void*(size_t);

[[gnu::noinline]] void* AllocateAsProgram(AllocateException* next, size_t size) {
  const uintptr_t before = thread_state.scope;
  LeaveScope(before & ~kInAllocator);
  void* exception = next(size);  // ends the program if there is no memory
  LeaveScope(before);
  return exception;
}

}  // namespace

extern "C" {

MEMPROF_HOOK void* __cxa_allocate_exception(size_t size) {
  auto* next = Next<AllocateException>(NextFunction::__cxa_allocate_exception, MEMPROF_RETURN());
  if (next == nullptr) return nullptr;  // nobody throws
  return InAllocator() ? AllocateAsProgram(next, size) : next(size);
}

}  // extern "C"
