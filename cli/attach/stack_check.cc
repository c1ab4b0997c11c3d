#include "cli/attach/stack_check.h"

#include <elfutils/libdwfl.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace memprof {
namespace {

// Within these a thread may hold what dlopen, malloc or the making of a thread's memory locks.
constexpr std::string_view kUnsafe[] = {"malloc",
                                        "free",
                                        "calloc",
                                        "realloc",
                                        "reallocarray",
                                        "memalign",
                                        "posix_memalign",
                                        "aligned_alloc",
                                        "valloc",
                                        "pvalloc",
                                        "malloc_trim",
                                        "malloc_info",
                                        "malloc_stats",
                                        "mallinfo",
                                        "mallinfo2",
                                        "mallopt",
                                        "malloc_usable_size",
                                        "__libc_malloc",
                                        "__libc_free",
                                        "fork",
                                        "_Fork",
                                        "vfork",
                                        "__libc_fork",
                                        "clone",
                                        "posix_spawn",
                                        "posix_spawnp",
                                        "exit",
                                        "_exit",
                                        "quick_exit",
                                        "__cxa_finalize",
                                        "__cxa_atexit",
                                        "__libc_freeres",
                                        "dlopen",
                                        "dlmopen",
                                        "dlclose",
                                        "dlsym",
                                        "dlvsym",
                                        "dladdr",
                                        "dladdr1",
                                        "dlinfo",
                                        "dlerror",
                                        "dl_iterate_phdr",
                                        "__libc_dlopen_mode",
                                        "_dl_addr",
                                        "pthread_create",
                                        "pthread_join",
                                        "pthread_tryjoin_np",
                                        "pthread_timedjoin_np",
                                        "pthread_clockjoin_np",
                                        "pthread_detach",
                                        "pthread_exit",
                                        "pthread_cancel",
                                        "pthread_getattr_np",
                                        "pthread_setattr_default_np",
                                        "pthread_atfork",
                                        "__register_atfork",
                                        "setuid",
                                        "setgid",
                                        "seteuid",
                                        "setegid",
                                        "setreuid",
                                        "setregid",
                                        "setresuid",
                                        "setresgid",
                                        "setgroups",
                                        "abort"};

struct Frame {
  uint64_t pc;
  bool exact;  // the next instruction itself; else what a call returns to
};

int AddFrame(Dwfl_Frame* frame, void* frames) {
  Dwarf_Addr pc = 0;
  bool exact = false;
  if (!dwfl_frame_pc(frame, &pc, &exact)) return DWARF_CB_ABORT;
  auto& all = *static_cast<std::vector<Frame>*>(frames);
  if (all.size() >= 4096) return DWARF_CB_ABORT;
  all.push_back({pc, exact});
  return DWARF_CB_OK;
}

// No debug information is looked for: the unwinding tables are in the files themselves.
int NoDebugInfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                char**) {
  return -1;
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = NoDebugInfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

bool IsUnsafe(const std::vector<std::string_view>& names) {
  return std::any_of(names.begin(), names.end(), [](std::string_view name) {
    return std::find(std::begin(kUnsafe), std::end(kUnsafe), name) != std::end(kUnsafe);
  });
}

}  // namespace

struct StackCheck::Unwinding {
  Dwfl* dwfl = nullptr;
  ~Unwinding() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
};

StackCheck::StackCheck(const TargetProcess& target) : target_(target) {}
StackCheck::~StackCheck() = default;

std::unique_ptr<StackCheck> StackCheck::Make(const TargetProcess& target) {
  std::unique_ptr<StackCheck> check(new StackCheck(target));
  check->unwinding_ = std::make_unique<Unwinding>();
  Dwfl* dwfl = check->unwinding_->dwfl = dwfl_begin(&kCallbacks);
  if (dwfl == nullptr) return nullptr;
  if (dwfl_linux_proc_report(dwfl, target.LivingThread()) != 0 ||
      dwfl_report_end(dwfl, nullptr, nullptr) != 0 ||
      dwfl_linux_proc_attach(dwfl, target.pid(), true) != 0) {
    return nullptr;
  }
  dwfl_getmodules(
      dwfl,
      [](Dwfl_Module* module, void**, const char*, Dwarf_Addr, void*) -> int {
        Dwarf_Addr bias = 0;
        dwfl_module_getelf(module, &bias);
        dwfl_module_eh_cfi(module, &bias);
        dwfl_module_dwarf_cfi(module, &bias);
        return DWARF_CB_OK;
      },
      nullptr, 0);
  for (const Mapping& mapping : target.mappings()) {
    if (mapping.offset != 0 || !ModuleName(mapping).starts_with("libc.so.6")) continue;
    check->libc_ = FunctionTable(target.Reachable(mapping.path), mapping.begin);
    break;
  }
  return check;
}

ThreadPlace StackCheck::Look(pid_t thread) {
  std::vector<Frame> frames;
  const bool to_the_end = dwfl_getthread_frames(unwinding_->dwfl, thread, AddFrame, &frames) == 0;
  ThreadPlace place;
  place.safe = !frames.empty();
  const auto unsafe = [&](std::string why) {
    place.safe = false;
    if (place.why.empty()) place.why = std::move(why);
  };
  bool left_libc = false;       // a frame of the program's was seen
  bool unnamed_so_far = false;  // only nameless functions of libc so far
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    const uint64_t at = frame.exact ? frame.pc : frame.pc - 1;
    const Mapping* mapping = target_.At(at);
    const std::string module = mapping != nullptr ? ModuleName(*mapping) : std::string();
    if (mapping != nullptr && mapping->path == target_.loader()) {
      place.in_loader = true;
      unsafe("it is in the loader");
    } else if (module.starts_with("libmemprof_attach.so")) {
      place.in_tracker = true;
      unsafe("it is in memprof's tracker");
    } else if (module.starts_with("libc.so.6")) {
      const auto names = libc_.NamesAt(at);
      const bool ends_here = i + 1 == frames.size();
      if (IsUnsafe(names)) unsafe("it is in " + std::string(names.front()));
      for (const std::string_view name : names) {
        if (name.starts_with("dl")) place.in_loader = true;
      }
      if (names.empty() && !left_libc) unnamed_so_far = true;
      if (!names.empty()) unnamed_so_far = false;
      if (unnamed_so_far && ends_here) unsafe("it begins or ends");
      continue;
    } else if (mapping != nullptr && mapping->path == target_.allocator()) {
      unsafe("it is in its allocator");
    }
    if (unnamed_so_far) unsafe("it is in an unknown function of libc");
    unnamed_so_far = false;
    left_libc = true;
  }
  // Threads begin in libc, or in the program's _start.
  const Mapping* outermost = frames.empty() ? nullptr : target_.At(frames.back().pc - 1);
  place.complete = to_the_end && outermost != nullptr && !outermost->path.empty();
  if (!place.complete) unsafe("its stack can't be followed to its end");
  return place;
}

}  // namespace memprof
