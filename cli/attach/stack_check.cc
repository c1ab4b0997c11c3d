#include "cli/attach/stack_check.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/scoped_fd.h"
#include "core/symbolizer/regular_file.h"

namespace memprof {
namespace {

// In these functions a thread may hold locks that dlopen, malloc or the setup of a thread's memory
// takes.
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

// Where glibc's own threads wait (timers with SIGEV_THREAD, asynchronous input and output): nothing that
// begins or ends a thread calls these.
constexpr std::string_view kWaits[] = {"sigwait",
                                       "sigwaitinfo",
                                       "sigtimedwait",
                                       "__sigtimedwait",
                                       "pthread_cond_wait",
                                       "pthread_cond_timedwait",
                                       "pthread_cond_clockwait",
                                       "read",
                                       "pread",
                                       "pread64",
                                       "write",
                                       "pwrite",
                                       "pwrite64",
                                       "fsync",
                                       "fdatasync"};

struct Frame {
  uint64_t pc;
  bool exact;  // it is the next instruction itself, not a return address
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

// Debug information isn't searched: the unwinding tables are in the files themselves.
int NoDebugInfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                char**) {
  return -1;
}

// A module's file as the process sees it: by the same path memprof may see another one. Parts
// without a file (the vDSO, a file that was deleted) are read from the process's memory.
int FindElf(Dwfl_Module* module, void** userdata, const char* name, Dwarf_Addr base,
            char** file_name, Elf** elf) {
  const auto* target = static_cast<const TargetProcess*>(*userdata);
  if (name[0] != '/' || target == nullptr || std::string_view(name).ends_with(" (deleted)")) {
    return dwfl_linux_proc_find_elf(module, userdata, name, base, file_name, elf);
  }
  const std::string path = target->Reachable(name);
  ScopedFd file = OpenRegularFile(path, O_NOFOLLOW);
  if (!file) return -1;
  *file_name = strdup(path.c_str());  // libdwfl's from now on, as the descriptor
  return file.Release();
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = FindElf,
    .find_debuginfo = NoDebugInfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

constexpr uint64_t kPage = 4096;

// The memory and registers of the thread that is looked at, for libdwfl. It makes no ptrace call itself: libdwfl's
// own callbacks keep a thread for attached if it ends meanwhile, and abort at the next look.
struct Source {
  const TargetProcess& target;
  const user_regs_struct* registers = nullptr;
  uint64_t page = 1;  // the address of the page that was read last; 1: none was
  std::array<unsigned char, kPage> bytes = {};
};

bool ReadWord(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
  auto& source = *static_cast<Source*>(argument);
  const uint64_t page = address / kPage * kPage;
  if (address - page > kPage - sizeof *word) {
    return source.target.Read(address, word, sizeof *word);
  }
  if (page != source.page) {
    source.page = 1;
    if (!source.target.Read(page, source.bytes.data(), kPage)) return false;
    source.page = page;
  }
  std::memcpy(word, source.bytes.data() + (address - page), sizeof *word);
  return true;
}

bool SetRegisters(Dwfl_Thread* thread, void* argument) {
  const user_regs_struct& r = *static_cast<Source*>(argument)->registers;
  // The order of the processor's ABI for DWARF.
  const Dwarf_Word words[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                              r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  return dwfl_thread_state_registers(thread, 0, std::size(words), words);
}

bool OneThread(Dwfl*, pid_t, void* source, void** thread_argument) {
  *thread_argument = source;
  return true;
}

pid_t NoNextThread(Dwfl*, void*, void**) { return 0; }

const Dwfl_Thread_Callbacks kThreadCallbacks = {
    .next_thread = NoNextThread,
    .get_thread = OneThread,
    .memory_read = ReadWord,
    .set_initial_registers = SetRegisters,
    .detach = nullptr,
    .thread_detach = nullptr,
};

template <size_t N>
bool AnyOf(const std::vector<std::string_view>& names, const std::string_view (&known)[N]) {
  return std::any_of(names.begin(), names.end(), [&known](std::string_view name) {
    return std::find(std::begin(known), std::end(known), name) != std::end(known);
  });
}

}  // namespace

struct StackCheck::Unwinding {
  explicit Unwinding(const TargetProcess& target) : source{target} {}
  Source source;
  Dwfl* dwfl = nullptr;
  ~Unwinding() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
};

StackCheck::StackCheck(const TargetProcess& target) : target_(target) {}
StackCheck::~StackCheck() = default;

std::unique_ptr<StackCheck> StackCheck::Make(const TargetProcess& target) {
  std::unique_ptr<StackCheck> check(new StackCheck(target));
  check->unwinding_ = std::make_unique<Unwinding>(target);
  Dwfl* dwfl = check->unwinding_->dwfl = dwfl_begin(&kCallbacks);
  if (dwfl == nullptr) return nullptr;
  if (dwfl_linux_proc_report(dwfl, target.LivingThread()) != 0 ||
      dwfl_report_end(dwfl, nullptr, nullptr) != 0) {
    return nullptr;
  }
  dwfl_getmodules(
      dwfl,
      [](Dwfl_Module*, void** userdata, const char*, Dwarf_Addr, void* argument) -> int {
        *userdata = argument;
        return DWARF_CB_OK;
      },
      const_cast<TargetProcess*>(&target), 0);
  if (!dwfl_attach_state(dwfl, nullptr, target.pid(), &kThreadCallbacks,
                         &check->unwinding_->source)) {
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

ThreadPlace StackCheck::Look(const RemoteThread& thread) {
  std::vector<Frame> frames;
  unwinding_->source.registers = &thread.registers();
  unwinding_->source.page = 1;
  const bool to_the_end =
      dwfl_getthread_frames(unwinding_->dwfl, thread.id(), AddFrame, &frames) == 0;
  ThreadPlace place;
  place.safe = !frames.empty();
  const auto unsafe = [&](std::string why) {
    place.safe = false;
    if (place.why.empty()) place.why = std::move(why);
  };
  bool left_libc = false;       // a frame of the program's was seen
  bool unnamed_so_far = false;  // only nameless functions of libc so far
  // libc's own threads for timers have no function with a name but wait for signals.
  bool waits_in_libc = thread.interrupted_call() == SYS_rt_sigtimedwait;
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
      if (AnyOf(names, kUnsafe)) unsafe("it is in " + std::string(names.front()));
      for (const std::string_view name : names) {
        if (name.starts_with("dl")) place.in_loader = true;
      }
      waits_in_libc |= AnyOf(names, kWaits);
      if (names.empty() && !left_libc && !waits_in_libc) unnamed_so_far = true;
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
