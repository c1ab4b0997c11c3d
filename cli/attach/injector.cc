#include "cli/attach/injector.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "cli/basics/process_facts.h"
#include "cli/supervisor/control_texts.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint64_t kStackBytes = 512 * 1024;
constexpr uint64_t kTextBytes = 4096;  // at the stack's low end, for paths
constexpr milliseconds kStopLimit{100};
constexpr milliseconds kLookLimit{10'000};  // the search for a safe point is given up after this
constexpr milliseconds kForgetLimit{2'000};
constexpr uint64_t kMostCode = uint64_t{4} << 20;  // at most so much of a libc's code is searched
constexpr char kLibrary[] = "libmemprof_attach.so";

// Why a process that locks what it maps (mlockall) may have no memory for more.
std::string LockedText(pid_t pid) {
  const std::string locked = StatusLine(pid, "VmLck");
  return locked.empty() || locked.starts_with("0 ")
             ? std::string()
             : ": it locks its memory, and the tracker's would exceed RLIMIT_MEMLOCK (prlimit "
               "--memlock=unlimited --pid " +
                   std::to_string(pid) + ")";
}

tl::unexpected<Error> Failed(std::string why) { return Fail(ErrorKind::kIo, std::move(why)); }

// `set_back`: the timeouts of calls began anew. The program's timers must not stand still all the time.
milliseconds PauseAfter(int looks, bool set_back) {
  return milliseconds(std::min(2 << std::min(looks, 10), set_back ? 1500 : 50));
}

bool AnySetBack(const std::vector<RemoteThread>& threads) {
  return std::any_of(threads.begin(), threads.end(),
                     [](const RemoteThread& thread) { return thread.set_back(); });
}

}  // namespace

Result<Injector::Stopped> Injector::StopAll() {
  Stopped stopped;
  stopped.since = steady_clock::now();
  const auto until = stopped.since + kStopLimit;
  // The next round finds threads that begin meanwhile.
  for (bool more = true; more;) {
    more = false;
    const size_t before = stopped.threads.size();
    for (const pid_t id : target_.Threads()) {
      const bool known =
          std::any_of(stopped.threads.begin(), stopped.threads.end(),
                      [id](const RemoteThread& thread) { return thread.id() == id; });
      if (known) continue;
      int error = 0;
      auto thread = RemoteThread::Seize(target_.pid(), id, error);
      if (!thread) {
        if (error == ESRCH || (error == EPERM && !stopped.threads.empty())) continue;  // it ended
        return Failed(error == EPERM ? WhyNoRights(target_.pid())
                                     : fmt::format("process {} can't be traced: {}", target_.pid(),
                                                   strerror(error)));
      }
      thread->Interrupt();
      stopped.threads.push_back(std::move(*thread));
      more = true;
    }
    for (size_t i = before; i < stopped.threads.size(); ++i) stopped.threads[i].AwaitStop(until);
    if (steady_clock::now() >= until) break;
  }
  if (stopped.threads.empty()) {
    return Failed(fmt::format("there is no process {} any more", target_.pid()));
  }
  // Nothing may be written to another program, or to another process that has got the pid.
  if (const std::string became = target_.WhatBecame(); !became.empty()) return Failed(became);
  return stopped;
}

void Injector::LetGo(std::vector<RemoteThread>& threads, steady_clock::time_point since) {
  LetStoppedGo(threads, since);
  threads.clear();
}

void Injector::LetStoppedGo(std::vector<RemoteThread>& threads, steady_clock::time_point since) {
  std::erase_if(threads, [](RemoteThread& thread) {
    if (!thread.stopped()) return false;
    thread.Release();
    return true;
  });
  times_.longest_stop =
      std::max(times_.longest_stop,
               std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - since));
}

Result<RemoteThread> Injector::SafeThread() {
  std::string why;
  bool set_back = false;
  const auto give_up = steady_clock::now() + kLookLimit;
  for (int looks = 0; looks == 0 || steady_clock::now() < give_up; ++looks) {
    if (looks != 0) std::this_thread::sleep_for(PauseAfter(looks, set_back));
    target_.Remap();
    const auto check = StackCheck::Make(target_);
    if (check == nullptr) return Failed("its modules can't be read");
    auto stopped = StopAll();
    if (!stopped) return tl::unexpected<Error>(stopped.error());
    ++times_.looks;
    set_back = AnySetBack(stopped->threads);
    size_t safe = SIZE_MAX;
    bool anybody_loads = false;
    auto& threads = stopped->threads;
    for (size_t i = 0; i < threads.size(); ++i) {
      if (!threads[i].stopped()) continue;
      const ThreadPlace place = check->Look(threads[i]);
      anybody_loads |= place.in_loader;
      // Best one that waits without a timeout, or doesn't wait.
      if (place.safe &&
          (safe == SIZE_MAX || (threads[safe].restarts() && !threads[i].restarts()))) {
        safe = i;
      }
      if (!place.safe) why = fmt::format("thread {}: {}", threads[i].id(), place.why);
      if (steady_clock::now() > stopped->since + kStopLimit) break;
    }
    if (safe != SIZE_MAX && !anybody_loads) {
      RemoteThread thread = std::move(threads[safe]);
      threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(safe));
      stopped_since_ = stopped->since;
      LetStoppedGo(threads, stopped->since);
      not_stopped_ = std::move(threads);
      return thread;
    }
    LetGo(threads, stopped->since);
  }
  return Failed(
      fmt::format("no thread of process {} came to a point where the tracker can be "
                  "loaded, within {} s ({}); try again",
                  target_.pid(), kLookLimit.count() / 1000, why));
}

// Finds an int3 and a syscall instruction in libc's code, so that nothing has to be made
// executable.
Result<CallPlaces> Injector::FindPlaces() {
  for (const Mapping& mapping : target_.mappings()) {
    if (!mapping.executable || !ModuleName(mapping).starts_with("libc.so.6")) continue;
    std::string code(std::min(mapping.end - mapping.begin, kMostCode), '\0');
    if (!target_.Read(mapping.begin, code.data(), code.size())) continue;
    CallPlaces places;
    const size_t trap = code.find('\xcc');
    const size_t call = code.find("\x0f\x05");
    if (trap == std::string::npos || call == std::string::npos) continue;
    places.trap = mapping.begin + trap;
    places.syscall = mapping.begin + call;
    return places;
  }
  return Failed("its libc has no code as expected");
}

Result<void> Injector::MapStack(RemoteThread& thread, CallPlaces& places) {
  if (!thread.BeginCalls()) return Failed("its thread's registers can't be saved");
  const auto at = thread.SystemCall(places, SYS_mmap,
                                    {0, kStackBytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull, 0});
  if (!at || (*at < 0 && *at > -4096)) {
    return Failed(fmt::format("process {} has no memory for a stack{}", target_.pid(),
                              LockedText(target_.pid())));
  }
  stack_ = static_cast<uint64_t>(*at);
  places.stack_top = stack_ + kStackBytes;
  return {};
}

void Injector::Done(RemoteThread& thread, const CallPlaces& places) {
  if (stack_ != 0) thread.SystemCall(places, SYS_munmap, {stack_, kStackBytes});
  stack_ = 0;
  thread.Release();
  times_.longest_stop = std::max(
      times_.longest_stop,
      std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - stopped_since_));
  not_stopped_.clear();
}

std::optional<uint64_t> Injector::Call(RemoteThread& thread, const CallPlaces& places,
                                       uint64_t function, std::initializer_list<uint64_t> arguments,
                                       std::string& failure) {
  return thread.Call(places, function, arguments, failure, [this] {
    std::erase_if(not_stopped_, [](RemoteThread& late) {
      if (!late.AwaitStop(steady_clock::now())) return false;
      late.Release();
      return true;
    });
  });
}

Result<uint64_t> Injector::CallOurs(RemoteThread& thread, const CallPlaces& places,
                                    const char* name, std::initializer_list<uint64_t> arguments) {
  const uint64_t function = target_.Find(kLibrary, name);
  if (function == 0) {
    return Failed(fmt::format("the tracker in process {} is of another memprof", target_.pid()));
  }
  std::string failure;
  const auto result = Call(thread, places, function, arguments, failure);
  if (!result) return Failed(fmt::format("process {}: {}", target_.pid(), failure));
  return *result;
}

Result<void> Injector::Load(RemoteThread& thread, const CallPlaces& places,
                            const std::string& library) {
  // In libc since 2.34; before that in a library that many programs load.
  uint64_t dlopen = target_.Find("libc.so.6", "dlopen");
  uint64_t flags = RTLD_NOW | RTLD_LOCAL;
  if (dlopen == 0) dlopen = target_.Find("libdl.so.2", "dlopen");
  if (dlopen == 0) {
    dlopen = target_.Find("libc.so.6", "__libc_dlopen_mode");
    flags |= 0x80000000u;  // __RTLD_DLOPEN
  }
  if (dlopen == 0) return Failed("its libc has no dlopen");
  if (!target_.Write(stack_, library.c_str(), library.size() + 1)) {
    return Failed("its memory can't be written");
  }
  std::string failure;
  const auto handle = Call(thread, places, dlopen, {stack_, flags}, failure);
  if (!handle) return Failed(fmt::format("process {}: {}", target_.pid(), failure));
  target_.Remap();
  if (*handle != 0) return {};
  std::string said = "dlopen failed";
  if (const uint64_t dlerror = target_.Find("libc.so.6", "dlerror"); dlerror != 0) {
    const auto text = Call(thread, places, dlerror, {}, failure);
    char buffer[512] = {};
    if (text && *text != 0) {
      for (size_t i = 0; i + 1 < sizeof buffer; ++i) {
        if (!target_.Read(*text + i, buffer + i, 1) || buffer[i] == 0) break;
      }
      said = buffer;
    }
  }
  return Failed(fmt::format("process {} can't load the tracker: {}{}", target_.pid(), said,
                            LockedText(target_.pid())));
}

Result<void> Injector::Attach(const std::string& library, const std::string& socket) {
  if (library.size() >= kTextBytes / 2 || socket.size() >= kTextBytes / 2) {
    return Failed("the path of memprof's library is too long");
  }
  if (const auto state = target_.State();
      state && state->phase != static_cast<uint32_t>(AttachPhase::kIdle)) {
    // Left by an earlier attach, or by the parent of a forked process.
    if (auto detached = Detach(); !detached) return tl::unexpected<Error>(detached.error());
    if (auto forgotten = Forget(); !forgotten) {
      return Failed(fmt::format("process {} can't be attached to again before it is restarted: {}",
                                target_.pid(), forgotten.error().message));
    }
  }
  auto places = FindPlaces();
  if (!places) return tl::unexpected<Error>(places.error());
  auto thread = SafeThread();
  if (!thread) return tl::unexpected<Error>(thread.error());
  Result<uint64_t> result = uint64_t{0};
  auto fine = MapStack(*thread, *places);
  if (fine && target_.Find(kLibrary, kAttachName) == 0) fine = Load(*thread, *places, library);
  if (fine) {
    const uint64_t text = stack_ + kTextBytes / 2;
    target_.Write(text, socket.c_str(), socket.size() + 1);
    result = CallOurs(*thread, *places, kAttachName, {text});
  }
  Done(*thread, *places);
  if (!fine) return fine;
  if (!result) return tl::unexpected<Error>(result.error());
  switch (static_cast<AttachResult>(*result)) {
    case AttachResult::kCounting:
      return {};
    case AttachResult::kBusy:
      return Failed(fmt::format("process {} is attached to already", target_.pid()));
    case AttachResult::kNoAllocator:
      return Failed(fmt::format("process {} has no malloc that could be hooked", target_.pid()));
    case AttachResult::kNoMemory:
      return Failed(fmt::format("process {} has no address space for the tracker{}", target_.pid(),
                                LockedText(target_.pid())));
    case AttachResult::kNoRegion:
      return Failed(
          fmt::format("the tracker in process {} could not reach memprof", target_.pid()));
    case AttachResult::kNoStart:
      break;
  }
  return Failed(fmt::format("the tracker in process {} could not start", target_.pid()));
}

Result<uint64_t> Injector::Detach() {
  auto places = FindPlaces();
  if (!places) return tl::unexpected<Error>(places.error());
  auto thread = SafeThread();
  if (!thread) return tl::unexpected<Error>(thread.error());
  Result<uint64_t> result = uint64_t{0};
  if (auto fine = MapStack(*thread, *places); fine) {
    result = CallOurs(*thread, *places, kDetachName, {});
  } else {
    result = tl::unexpected<Error>(fine.error());
  }
  Done(*thread, *places);
  return result;
}

Result<void> Injector::Forget() {
  auto places = FindPlaces();
  if (!places) return tl::unexpected<Error>(places.error());
  std::string why = "it has no safe moment";
  bool set_back = false;
  const auto give_up = steady_clock::now() + kForgetLimit;
  for (int looks = 0; looks == 0 || steady_clock::now() < give_up; ++looks) {
    if (looks != 0) std::this_thread::sleep_for(PauseAfter(looks, set_back));
    target_.Remap();
    const auto state = target_.State();
    const auto check = StackCheck::Make(target_);
    if (check == nullptr || !state) return Failed("its modules can't be read");
    const auto thread_bytes = ThreadBytesOf(*state);
    if (!thread_bytes) return Failed("the tracker in it says what can't be right of its threads");
    auto stopped = StopAll();
    if (!stopped) return tl::unexpected<Error>(stopped.error());
    stopped_since_ = stopped->since;
    set_back = AnySetBack(stopped->threads);
    bool clean = true;
    for (RemoteThread& thread : stopped->threads) {
      const ThreadPlace place =
          thread.stopped() ? check->Look(thread) : ThreadPlace{.why = "it doesn't stop"};
      if (place.complete && !place.in_tracker && place.why != "it begins or ends") continue;
      clean = false;
      why = fmt::format("thread {}: {}", thread.id(), place.why);
      break;
    }
    if (!clean) {
      LetGo(stopped->threads, stopped->since);
      continue;
    }
    RemoteThread& caller = stopped->threads.front();
    Result<uint64_t> result = uint64_t{0};
    auto fine = MapStack(caller, *places);
    if (fine) {
      result = CallOurs(caller, *places, kForgetName, {});
      const std::string zeros(*thread_bytes, '\0');
      for (const RemoteThread& thread : stopped->threads) {
        if (!result || thread.registers().fs_base == 0) continue;
        const uint64_t at = thread.registers().fs_base + static_cast<uint64_t>(state->tls_offset);
        if (!target_.Write(at, zeros.data(), zeros.size())) {
          result = Failed(fmt::format("thread {} keeps what it had of the tracker", thread.id()));
        }
      }
    }
    Done(caller, *places);
    LetGo(stopped->threads, stopped->since);
    if (!fine) return fine;
    if (!result) return tl::unexpected<Error>(result.error());
    return {};
  }
  return Failed(fmt::format("the tracker's memory stays in process {}: {}", target_.pid(), why));
}

}  // namespace memprof
