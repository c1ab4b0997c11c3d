// Stacks that are not one run of compiled frames: signals, alternate and switched stacks, modules
// that come and go, code whose CFI is missing, unusual or wrong.

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/unwind/stack_capture.h"
#include "tests/aggregator/unwind/asm_frames.h"
#include "tests/aggregator/unwind/call_shapes.h"
#include "tests/aggregator/unwind/stack_probe.h"

namespace memprof::test {
namespace {

constexpr size_t kStackBytes = 256 * 1024;

// Anonymous memory for a stack, unmapped at the end.
class MappedStack {
 public:
  explicit MappedStack(size_t bytes = kStackBytes, void* at = nullptr) : bytes_(bytes) {
    base_ = mmap(at, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1, 0);
    EXPECT_NE(base_, MAP_FAILED);
  }
  ~MappedStack() { Unmap(); }
  MappedStack(const MappedStack&) = delete;
  MappedStack& operator=(const MappedStack&) = delete;

  void Unmap() {
    if (base_ != nullptr) munmap(base_, bytes_);
    base_ = nullptr;
  }
  char* base() const { return static_cast<char*>(base_); }
  char* top() const { return base() + bytes_; }
  size_t bytes() const { return bytes_; }

 private:
  void* base_;
  size_t bytes_;
};

class SpecialStack : public ::testing::Test {
 protected:
  SpecialStack() { g_probe = &probe_; }
  ~SpecialStack() override {
    g_probe = nullptr;
    EXPECT_LE(probe_.oracle_lost(), oracle_may_be_lost_);
  }

  StackProbe probe_;
  uint64_t oracle_may_be_lost_ = 0;
};

void ProbeWithoutOracle() {
  g_probe->Check(false);
  __asm__ volatile("");
}

void ProbeOnSignal(int) { ProbeHere(); }

void RaiseUser1() {
  raise(SIGUSR1);
  ProbeHere();
  __asm__ volatile("");
}

// Installs a handler for the lifetime of the object.
class SignalHandler {
 public:
  SignalHandler(int signal, void (*handler)(int), int flags) : signal_(signal) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, &old_);
  }
  ~SignalHandler() { sigaction(signal_, &old_, nullptr); }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

 private:
  int signal_;
  struct sigaction old_;
};

class AlternateStack {
 public:
  explicit AlternateStack(const MappedStack& stack) {
    stack_t wanted = {};
    wanted.ss_sp = stack.base();
    wanted.ss_size = stack.bytes();
    EXPECT_EQ(sigaltstack(&wanted, &old_), 0);
  }
  ~AlternateStack() { sigaltstack(&old_, nullptr); }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  stack_t old_;
};

TEST_F(SpecialStack, AgreesWithLibunwindThroughASignalFrame) {
  SignalHandler handler(SIGUSR1, ProbeOnSignal, 0);
  for (int i = 0; i < 3; ++i) {
    without_frame_pointer::ManyRegisters(10, 1, 2, 3, RaiseUser1);
    with_frame_pointer::ManyRegisters(10, 1, 2, 3, RaiseUser1);
  }
  EXPECT_EQ(probe_.captures(), 12u);
}

TEST_F(SpecialStack, AgreesWithLibunwindOnAnAlternateSignalStack) {
  MappedStack memory;
  AlternateStack alternate(memory);
  SignalHandler handler(SIGUSR1, ProbeOnSignal, SA_ONSTACK);
  for (int i = 0; i < 3; ++i) {
    without_frame_pointer::ManyRegisters(10, 1, 2, 3, RaiseUser1);
    with_frame_pointer::Recurse(10, RaiseUser1);
  }
  EXPECT_EQ(probe_.captures(), 12u);
}

TEST_F(SpecialStack, SurvivesAnAlternateStackThatIsGone) {
  MappedStack memory;
  {
    AlternateStack alternate(memory);
    SignalHandler handler(SIGUSR1, ProbeOnSignal, SA_ONSTACK);
    without_frame_pointer::Recurse(10, [] { raise(SIGUSR1); });
  }
  memory.Unmap();
  without_frame_pointer::Recurse(10, ProbeHere);
  EXPECT_EQ(probe_.captures(), 2u);
}

// SIGTRAP after every instruction of whatever runs under it.
TEST_F(SpecialStack, AgreesWithLibunwindAtEveryInstructionOfPrologues) {
  SignalHandler handler(SIGTRAP, ProbeOnSignal, 0);
  MemprofCallStepping([] {
    without_frame_pointer::RealignedVariable(1, 24, [] {});
    with_frame_pointer::RealignedVariable(1, 24, [] {});
    without_frame_pointer::Realigned(1, [] {});
    without_frame_pointer::ManyRegisters(1, 2, 3, 4, [] {});
    without_frame_pointer::VariableFrame(1, 64, [] {});
    without_frame_pointer::BigFrame(0, [] {});
  });
  EXPECT_GT(probe_.captures(), 200u);
  // For two instructions in the epilogue of a function that realigns its stack, gcc 12's CFI claims
  // that rbp is still where it was saved.
  oracle_may_be_lost_ = 8;
}

TEST_F(SpecialStack, AgreesWithLibunwindAtEveryInstructionOfLazyBinding) {
  void* module = dlopen(MEMPROF_LAZY_MODULE, RTLD_LAZY | RTLD_LOCAL);
  ASSERT_NE(module, nullptr) << dlerror();
  static long (*calls)();
  calls = reinterpret_cast<long (*)()>(dlsym(module, "MemprofLazyCalls"));
  ASSERT_NE(calls, nullptr);
  {
    SignalHandler handler(SIGTRAP, ProbeOnSignal, 0);
    MemprofCallStepping([] { calls(); });
  }
  EXPECT_GT(probe_.captures(), 500u);  // the resolver's own instructions among them
  dlclose(module);
}

TEST_F(SpecialStack, AgreesWithLibunwindWhereTheCfaIsInRbx) {
  for (int i = 0; i < 2; ++i) {
    without_frame_pointer::Recurse(3, [] {
      MemprofCallByRbx([] {
        without_frame_pointer::ManyRegisters(4, 1, 2, 3, ProbeHere);
        MemprofCallByRbx(ProbeHere);
      });
    });
  }
  EXPECT_EQ(probe_.captures(), 4u);
}

ucontext_t g_main_context;
ucontext_t g_coroutine_context;

void CoroutineBody() {
  for (;;) {
    without_frame_pointer::ManyRegisters(5, 1, 2, 3, ProbeHere);
    swapcontext(&g_coroutine_context, &g_main_context);
  }
}

void StartCoroutine(const MappedStack& stack) {
  getcontext(&g_coroutine_context);
  g_coroutine_context.uc_stack.ss_sp = stack.base();
  g_coroutine_context.uc_stack.ss_size = stack.bytes();
  g_coroutine_context.uc_link = nullptr;
  makecontext(&g_coroutine_context, CoroutineBody, 0);
}

TEST_F(SpecialStack, AgreesWithLibunwindOnAUcontextStack) {
  MappedStack stack;
  StartCoroutine(stack);
  for (int i = 0; i < 5; ++i) {
    ProbeHere();
    swapcontext(&g_main_context, &g_coroutine_context);
  }
  EXPECT_EQ(probe_.captures(), 10u);
  EXPECT_LT(probe_.last().pcs.size(), 15u);  // nothing of main's stack
}

// A coroutine's stack is unmapped, and a smaller one is mapped within its addresses, with a hole
// above.
TEST_F(SpecialStack, SurvivesASmallerStackWhereALargerOneWas) {
  MappedStack large;
  StartCoroutine(large);
  swapcontext(&g_main_context, &g_coroutine_context);
  char* const base = large.base();
  large.Unmap();
  MappedStack small(kStackBytes / 4, base);
  // There is nothing now where the large one had its frames.
  StartCoroutine(small);
  swapcontext(&g_main_context, &g_coroutine_context);
  EXPECT_EQ(probe_.captures(), 2u);
}

TEST_F(SpecialStack, AgreesWithLibunwindOnAStackSwitchedByHand) {
  static MappedStack* stack;
  MappedStack memory;
  stack = &memory;
  for (int i = 0; i < 3; ++i) {
    without_frame_pointer::Recurse(4, [] {
      MemprofCallOnStack([] { without_frame_pointer::Recurse(4, ProbeHere); }, stack->top());
      ProbeHere();
    });
  }
  EXPECT_EQ(probe_.captures(), 6u);
  EXPECT_GT(probe_.last().pcs.size(), 5u);
}

[[gnu::noinline]] void RecurseAndProbe() {
  without_frame_pointer::Recurse(4, ProbeWithoutOracle);
  __asm__ volatile("");
}

TEST_F(SpecialStack, IsIncompleteAboveAStackSwitchedWithoutCfi) {
  MappedStack memory;
  for (int i = 0; i < 3; ++i) {
    MemprofCallOnStackWithoutCfi(RecurseAndProbe, memory.top());
    EXPECT_TRUE(probe_.last().result.incomplete);
    EXPECT_EQ(probe_.last().pcs.size(), 8u);  // the switch, RecurseAndProbe, 5 × Recurse, the probe
  }
}

TEST_F(SpecialStack, IsIncompleteAboveCodeWithoutCfiAndReusesTheRest) {
  Repeat(5, [] { MemprofCallWithoutCfi([] { Repeat(4, RecurseAndProbe); }); });
  EXPECT_TRUE(probe_.last().result.incomplete);
  EXPECT_EQ(probe_.captures(), 20u);
  EXPECT_EQ(probe_.unchanged(), 19 * probe_.last().pcs.size());
}

// push %rax; call *%rdi; pop %rax; ret
constexpr unsigned char kJitCode[] = {0x50, 0xff, 0xd7, 0x58, 0xc3};

TEST_F(SpecialStack, IsIncompleteAboveCodeThatIsInNoModule) {
  void* page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  std::memcpy(page, kJitCode, sizeof(kJitCode));
  const auto call = reinterpret_cast<void (*)(void (*)())>(page);
  for (int i = 0; i < 3; ++i) {
    call(ProbeWithoutOracle);
    EXPECT_TRUE(probe_.last().result.incomplete);
    EXPECT_EQ(probe_.last().pcs.size(), 2u);
  }
  munmap(page, 4096);
}

TEST_F(SpecialStack, SurvivesCfiThatLies) {
  std::vector<uintptr_t> heap(64, 0x1234'5678'9abcu);
  const auto on_stack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  MappedStack memory;
  const auto mapped = reinterpret_cast<uintptr_t>(memory.base());
  // A frame that returns into itself, for ever.
  static uintptr_t own_pc;
  MemprofCallWithLyingCfi([] { own_pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0)); },
                          0);
  uintptr_t endless[3] = {reinterpret_cast<uintptr_t>(&endless), own_pc, 0};
  const uintptr_t lies[] = {0,
                            1,
                            8,
                            4096,
                            ~uintptr_t{0},
                            ~uintptr_t{0} - 15,
                            uintptr_t{1} << 63,
                            uintptr_t{1} << 47,
                            (uintptr_t{1} << 47) - 16,
                            0x7fff'0000'0000,
                            reinterpret_cast<uintptr_t>(heap.data()),
                            reinterpret_cast<uintptr_t>(heap.data()) + 3,
                            reinterpret_cast<uintptr_t>(&endless),
                            on_stack - 100'000,
                            on_stack + (uintptr_t{1} << 20),
                            on_stack + 3,
                            mapped,
                            mapped - 16,
                            mapped + kStackBytes - 16,
                            mapped + kStackBytes - 20,
                            reinterpret_cast<uintptr_t>(&ProbeHere)};
  for (int i = 0; i < 2; ++i) {
    for (uintptr_t lie : lies) {
      MemprofCallWithLyingCfi(ProbeWithoutOracle, lie);
      EXPECT_GE(probe_.last().pcs.size(), 2u) << std::hex << lie;
      EXPECT_LE(probe_.last().pcs.size(), 40u) << std::hex << lie;
    }
  }
}

TEST_F(SpecialStack, AgreesWithLibunwindWhereTheCfiRemembersManyRows) {
  for (int i = 0; i < 3; ++i) {
    MemprofCallWithDeepRows(ProbeHere);
    MemprofCallWithDeepRows([] { without_frame_pointer::ManyRegisters(4, 1, 2, 3, ProbeHere); });
  }
  EXPECT_EQ(probe_.captures(), 6u);
}

// Loads, calls and unloads one build of the module; returns where its function was.
void* CallInModule(const char* path) {
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(module, nullptr) << dlerror();
  if (module == nullptr) return nullptr;
  void* const function = dlsym(module, "MemprofModuleCall");
  reinterpret_cast<void (*)(void (*)())>(function)(ProbeHere);
  InvalidateUnwinder();
  dlclose(module);
  InvalidateUnwinder();
  return function;
}

TEST_F(SpecialStack, ForgetsTheRulesOfAModuleThatWasUnloaded) {
  void* last = CallInModule(MEMPROF_SWAPPED_MODULE_A);
  const size_t depth = probe_.last().pcs.size();
  // The loader's own data is in the way of the first loads; then addresses repeat.
  int at_the_same_place = 0;
  for (int i = 0; i < 10; ++i) {
    void* const now =
        CallInModule(i % 2 == 0 ? MEMPROF_SWAPPED_MODULE_B : MEMPROF_SWAPPED_MODULE_A);
    EXPECT_EQ(probe_.last().pcs.size(), depth);
    if (now == last) ++at_the_same_place;
    last = now;
  }
  EXPECT_GT(at_the_same_place, 0) << "the loader never reused the address";
}

// A library as BOLT and patchelf leave it: the program headers aren't behind the ELF header.
std::string CopyWithProgramHeadersAtTheEnd(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Elf64_Ehdr elf;
  std::memcpy(&elf, bytes.data(), sizeof(elf));
  const std::string headers = bytes.substr(elf.e_phoff, elf.e_phnum * sizeof(Elf64_Phdr));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(elf.e_phoff), headers.size(), '\0');
  bytes.resize((bytes.size() + 4095) / 4096 * 4096);
  elf.e_phoff = bytes.size();
  std::memcpy(bytes.data(), &elf, sizeof(elf));
  std::string copy = "/tmp/memprof-rewritten-XXXXXX";
  const int file = mkstemp(copy.data());
  bytes += headers;
  EXPECT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(file);
  return copy;
}

TEST_F(SpecialStack, AgreesWithLibunwindInALibraryThatWasRewritten) {
  const std::string path = CopyWithProgramHeadersAtTheEnd(MEMPROF_SWAPPED_MODULE_A);
  EXPECT_NE(CallInModule(path.c_str()), nullptr);
  EXPECT_FALSE(probe_.last().result.incomplete);
  EXPECT_EQ(probe_.captures(), 1u);
  unlink(path.c_str());
}

TEST_F(SpecialStack, AgreesWithLibunwindInThreadsWhileRulesAreForgotten) {
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&running, t] {
      StackProbe probe;
      g_probe = &probe;
      for (unsigned seed = 1; seed <= 5; ++seed) {
        without_frame_pointer::RandomTree(seed * 4 + t, 12, 200, ProbeHere);
      }
      g_probe = nullptr;
      --running;
    });
  }
  while (running > 0) {
    InvalidateUnwinder();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

// A thread's slot, with its StackMemory, is adopted by the next thread.
TEST_F(SpecialStack, SurvivesAMemoryThatAnotherThreadLeftBehind) {
  for (unsigned i = 0; i < 6; ++i) {
    std::thread([this, i] {
      g_probe = &probe_;
      without_frame_pointer::RandomTree(i, 12, 100, ProbeHere);
    }).join();
    without_frame_pointer::RandomTree(i, 12, 100, ProbeHere);
  }
  EXPECT_GT(probe_.captures(), 100u);
}

// Small stacks are common in signal handlers and coroutines, and the hook must fit into them.
TEST_F(SpecialStack, NeedsLittleStackOfItsOwn) {
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the budget is that of optimised code";
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "the budget is that of optimised code";
#endif
#endif
  static MappedStack* stack;
  static StackMemory* memory;
  MappedStack mapped;
  stack = &mapped;
  memory = new StackMemory();
  std::memset(mapped.base(), 0xa5, mapped.bytes());
  InvalidateUnwinder();  // every rule has to be learnt: the deepest path
  static uintptr_t start_sp;
  MemprofCallOnStack(
      [] {
        MemprofCallByRbx([] {
          auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
          start_sp = reinterpret_cast<uintptr_t>(frame + 2);
          CaptureStack({reinterpret_cast<uintptr_t>(__builtin_return_address(0)), start_sp, *frame},
                       *memory);
        });
      },
      stack->top());
  const auto* lowest = reinterpret_cast<const unsigned char*>(mapped.base());
  while (*lowest == 0xa5) ++lowest;
  const uintptr_t used = start_sp - reinterpret_cast<uintptr_t>(lowest);
  RecordProperty("stack_bytes", std::to_string(used));
  std::printf("stack used by a capture at its deepest: %zu bytes\n", used);
  EXPECT_GT(memory->depth, 4u);
  EXPECT_LT(used, 3072u);
  delete memory;
}

}  // namespace
}  // namespace memprof::test
