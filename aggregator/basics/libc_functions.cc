#include "aggregator/basics/libc_functions.h"

#include <atomic>
#include <cstring>

#include "aggregator/basics/loaded_symbols.h"

// Defined by the start files: libc uses it to tell which library a handler belongs to.
extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;

namespace memprof {
namespace {

constinit LibcFunctions functions;
constinit std::atomic<bool> known{false};  // its release store orders the table before it

const link_map* ObjectOfSoname(const char* soname) {
  const link_map* object = LoadedObjects();
  while (object != nullptr && strcmp(SonameOf(*object), soname) != 0) object = object->l_next;
  return object;
}

// Finds libc's own function, or else the loader's, which has some of these names.
class Finder {
 public:
  template <typename Pointer>
  void Find(Resolved<Pointer>& pointer, const char* name) const {
    void* found = libc_ != nullptr ? FindIn(*libc_, name) : nullptr;
    if (found == nullptr && loader_ != nullptr) found = FindIn(*loader_, name);
    Store(pointer, found);
  }
  // Also without glibc: hooks need these to pass a call on.
  template <typename Pointer>
  void FindAnywhere(Resolved<Pointer>& pointer, const char* name) const {
    if (libc_ != nullptr) {
      Find(pointer, name);
    } else {
      Store(pointer, FindNextDefinition(name));
    }
  }

 private:
  template <typename Pointer>
  static void Store(Resolved<Pointer>& pointer, void* found) {
    Pointer value;
    static_assert(sizeof value == sizeof found);
    memcpy(&value, &found, sizeof found);
    pointer.Store(value);
  }

  const link_map* const libc_ = ObjectOfSoname("libc.so.6");
  const link_map* const loader_ = ObjectOfSoname("ld-linux-x86-64.so.2");
};

}  // namespace

const LibcFunctions& TheLibc() {
  if (known.load(std::memory_order_acquire)) return functions;
  const Finder finder;
  finder.Find(functions.find_object, "_dl_find_object");
  finder.FindAnywhere(functions.iterate_objects, "dl_iterate_phdr");
  finder.FindAnywhere(functions.dlsym, "dlsym");
  finder.FindAnywhere(functions.dlerror, "dlerror");
  finder.Find(functions.getauxval, "getauxval");
  finder.Find(functions.clock_gettime, "clock_gettime");
  finder.Find(functions.on_exit, "on_exit");
  finder.Find(functions.thread_atexit, "__cxa_thread_atexit_impl");
  finder.Find(functions.register_atfork, "__register_atfork");
  finder.Find(functions.key_create, "pthread_key_create");
  finder.Find(functions.key_delete, "pthread_key_delete");
  finder.Find(functions.setspecific, "pthread_setspecific");
  finder.Find(functions.getcontext, "getcontext");
  finder.Find(functions.makecontext, "makecontext");
  finder.Find(functions.stack_end, "__libc_stack_end");
  finder.Find(functions.in_libc, "gnu_get_libc_version");
  known.store(true, std::memory_order_release);
  return functions;
}

int IterateObjects(int (*visit)(dl_phdr_info*, size_t, void*), void* data) {
  const auto iterate = TheLibc().iterate_objects.Load();
  return iterate != nullptr ? iterate(visit, data) : 0;
}

void AtFork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  const auto add = TheLibc().register_atfork.Load();
  if (add != nullptr) add(before, in_parent, in_child, &__dso_handle);
}

void AtThreadExit(void (*call)(void*)) {
  const auto add = TheLibc().thread_atexit.Load();
  if (add != nullptr) add(call, nullptr, &__dso_handle);
}

void* AskLoader(void* handle, const char* name) {
  const LibcFunctions& libc = TheLibc();
  if (libc.dlsym == nullptr || libc.dlerror == nullptr) return nullptr;
  void* const found = libc.dlsym(handle, name);
  if (found != nullptr) return found;
  // The first call takes the message, the second frees it.
  libc.dlerror();
  libc.dlerror();
  return nullptr;
}

}  // namespace memprof
