#include "aggregator/allocator/cxx_by_malloc.h"

#include <link.h>

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "aggregator/allocator/next_function.h"
#include "aggregator/allocator/real_allocator.h"
#include "aggregator/basics/loaded_symbols.h"

namespace memprof {
namespace {

constinit std::atomic<void*> throwing_new{nullptr};
constinit std::atomic<void*> throwing_new_array{nullptr};
constinit std::atomic<void*> nothrow_new{nullptr};
constinit std::atomic<void*> nothrow_new_array{nullptr};

template <typename Function>
Function* As(void* symbol) {
  Function* function;
  memcpy(&function, &symbol, sizeof symbol);
  return function;
}

// A failing allocation goes to libstdc++, which handles the failure.
template <std::atomic<void*>& original>
void* New(size_t size) {
  void* address = real.malloc(size != 0 ? size : 1);
  if (__builtin_expect(address != nullptr, 1)) return address;
  return As<void*(size_t)>(original.load(std::memory_order_relaxed))(size);
}
template <std::atomic<void*>& original>
void* NewNothrow(size_t size, const void* nothrow) {
  void* address = real.malloc(size != 0 ? size : 1);
  if (__builtin_expect(address != nullptr, 1)) return address;
  return As<void*(size_t, const void*)>(original.load(std::memory_order_relaxed))(size, nothrow);
}
void Delete(void* address) { real.free(address); }

const link_map* ModuleOf(FindObject find, void* address) {
  dl_find_object object;
  return address != nullptr && find(address, &object) == 0 ? object.dlfo_link_map : nullptr;
}

bool IsLibstdcxx(const link_map* module) {
  if (module == nullptr || module->l_name == nullptr) return false;
  const char* slash = strrchr(module->l_name, '/');
  return slash != nullptr && strncmp(slash, "/libstdc++.so.", 14) == 0;
}

// libstdc++'s operators call one another by name: every new except one calls that one, and the
// deletes do likewise. A program that defines one of them is therefore called for others, too.
constexpr struct {
  NextFunction which;
  const char* name;
} kOperators[] = {
    {NextFunction::_Znwm, "_Znwm"},
    {NextFunction::_Znam, "_Znam"},
    {NextFunction::_ZnwmRKSt9nothrow_t, "_ZnwmRKSt9nothrow_t"},
    {NextFunction::_ZnamRKSt9nothrow_t, "_ZnamRKSt9nothrow_t"},
    {NextFunction::_ZdlPv, "_ZdlPv"},
    {NextFunction::_ZdaPv, "_ZdaPv"},
    {NextFunction::_ZdlPvRKSt9nothrow_t, "_ZdlPvRKSt9nothrow_t"},
    {NextFunction::_ZdaPvRKSt9nothrow_t, "_ZdaPvRKSt9nothrow_t"},
    {NextFunction::_ZdlPvm, "_ZdlPvm"},
    {NextFunction::_ZdaPvm, "_ZdaPvm"},
};

std::atomic<void*>& NextOf(NextFunction which) {
  return next_functions[static_cast<size_t>(which)];
}

// True if the functions that libstdc++ calls by these names are ours, and the ones behind ours are
// libstdc++'s again.
bool OnlyWeAreBetween(FindObject find) {
  const link_map* ours = ModuleOf(find, reinterpret_cast<void*>(&Delete));
  // No object before ours in the list has it.
  const auto is_ours = [&](const char* name) {
    for (const link_map* object = LoadedObjects(); object != ours; object = object->l_next) {
      if (object == nullptr || FindIn(*object, name) != nullptr) return false;
    }
    return true;
  };
  if (ours == nullptr || !is_ours("malloc") || !is_ours("free")) return false;
  for (const auto& [which, name] : kOperators) {
    // It is ours if another thread has replaced it meanwhile.
    const link_map* next = ModuleOf(find, NextOf(which).load(std::memory_order_relaxed));
    if (!is_ours(name) || (next != ours && !IsLibstdcxx(next))) return false;
  }
  return true;
}

template <typename Function>
void Replace(NextFunction which, FindObject find, Function* by,
             std::atomic<void*>* original = nullptr) {
  std::atomic<void*>& next = NextOf(which);
  void* const function = next.load(std::memory_order_relaxed);
  if (!IsLibstdcxx(ModuleOf(find, function))) return;
  if (original != nullptr) original->store(function, std::memory_order_relaxed);
  next.store(reinterpret_cast<void*>(by), std::memory_order_release);
}

}  // namespace

void PassByLibstdcxx(FindObject find) {
  if (find == nullptr || !OnlyWeAreBetween(find)) return;
  Replace(NextFunction::_Znwm, find, &New<throwing_new>, &throwing_new);
  Replace(NextFunction::_Znam, find, &New<throwing_new_array>, &throwing_new_array);
  Replace(NextFunction::_ZnwmRKSt9nothrow_t, find, &NewNothrow<nothrow_new>, &nothrow_new);
  Replace(NextFunction::_ZnamRKSt9nothrow_t, find, &NewNothrow<nothrow_new_array>,
          &nothrow_new_array);
  for (const NextFunction which :
       {NextFunction::_ZdlPv, NextFunction::_ZdaPv, NextFunction::_ZdlPvRKSt9nothrow_t,
        NextFunction::_ZdaPvRKSt9nothrow_t, NextFunction::_ZdlPvm, NextFunction::_ZdaPvm}) {
    // The others' further arguments are not needed.
    Replace(which, find, &Delete);
  }
}

}  // namespace memprof
