// A program that plays a tracked one. Its arguments are its actions, one after the other.
//
//   connect        asks for a region as a tracker does and maps it
//   hello          asks for a region, and gives up at once
//   allocate N     one more allocation of N bytes that is never freed
//   finish         what a tracker's destructor does
//   exec           executes itself again, with the remaining words
//   exec-quietly   likewise with MEMPROF_SOCKET unset: no tracker will come
//   child          runs the remaining words in a child and waits for it, then exits with its status
//   name NAME      sets the process's name
//   refused?       exits with 9 unless `connect` was answered with "run untracked"
//   print TEXT, sleep MS, exit N, raise SIGNAL, expect SIGNAL (waits for it)
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/protocol/handshake.h"
#include "core/protocol/region_layout.h"

namespace {

using namespace memprof;

char* region = nullptr;
bool refused = false;

RegionHeader& Header() { return *reinterpret_cast<RegionHeader*>(region); }

template <typename Record>
Record* Records(Table table) {
  return reinterpret_cast<Record*>(region + Header().tables[static_cast<size_t>(table)].offset);
}

void Publish(Table table, uint32_t count) {
  Header().counts[static_cast<size_t>(table)].store(count, std::memory_order_release);
}

int SayHello() {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const char* path = std::getenv(kSocketVariable);
  if (path == nullptr) return -1;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
  const Hello hello = {kHandshakeVersion, static_cast<uint32_t>(getpid())};
  return send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof hello) ? fd
                                                                                            : -1;
}

bool Connect() {
  const int fd = SayHello();
  Welcome welcome = {};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&welcome, sizeof welcome};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (fd < 0 || recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof welcome)) {
    return false;
  }
  close(fd);
  refused = welcome.accepted == 0;
  const cmsghdr* part = CMSG_FIRSTHDR(&message);
  if (refused || part == nullptr) return refused;
  int memory;
  std::memcpy(&memory, CMSG_DATA(part), sizeof memory);
  void* base = mmap(nullptr, welcome.region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (base == MAP_FAILED) return false;
  region = static_cast<char*>(base);
  Header().pid = static_cast<uint32_t>(getpid());
  Header().state.store(static_cast<uint32_t>(TrackerState::kCounting));
  return true;
}

// All in one site: root → an address of no module, thread name 0.
void Allocate(uint64_t bytes) {
  Records<NodeRecord>(Table::kNodes)[1].module = kNoModule;
  Records<NodeRecord>(Table::kNodes)[1].pc.store(kFirstRealPc);
  Records<SiteRecord>(Table::kSites)[0].node.store(1);
  Cell& cell = Records<CellChunk>(Table::kCellChunks)[0].cells[0];
  cell.site_plus_one.store(1);
  cell.allocated_bytes.fetch_add(bytes);
  cell.allocated_count.fetch_add(1);
  PeakState state = Unpack(Header().peak);
  state.current += static_cast<int64_t>(bytes);
  state.peak = static_cast<uint64_t>(state.current);
  state.armed = true;
  Header().peak = Pack(state);
  Publish(Table::kThreadNames, 1);
  Publish(Table::kNodes, 2);
  Publish(Table::kSites, 1);
  Publish(Table::kCellChunks, 1);
}

void WaitForSignal(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::puts("waiting");
  std::fflush(stdout);
  const timespec limit = {20, 0};
  if (sigtimedwait(&set, nullptr, &limit) != number) _exit(8);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    auto number = [&] { return i + 1 < argc ? std::atoi(argv[++i]) : 0; };
    if (word == "connect") {
      if (!Connect()) _exit(7);
    } else if (word == "hello") {
      close(SayHello());
    } else if (word == "allocate") {
      Allocate(static_cast<uint64_t>(number()));
    } else if (word == "finish") {
      Header().state.store(static_cast<uint32_t>(TrackerState::kFinished));
    } else if (word == "exec" || word == "exec-quietly") {
      if (word == "exec-quietly") unsetenv(kSocketVariable);
      argv[i] = argv[0];
      execv("/proc/self/exe", argv + i);
      _exit(6);
    } else if (word == "child") {
      if (const pid_t pid = fork(); pid != 0) {
        int status;
        waitpid(pid, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
      }
    } else if (word == "refused?") {
      if (!refused) _exit(9);
    } else if (word == "print") {
      std::puts(argv[++i]);
      std::fflush(stdout);
    } else if (word == "name") {
      prctl(PR_SET_NAME, argv[++i]);
    } else if (word == "sleep") {
      usleep(static_cast<useconds_t>(number()) * 1000);
    } else if (word == "exit") {
      _exit(number());
    } else if (word == "raise") {
      raise(number());
    } else if (word == "expect") {
      WaitForSignal(number());
    } else {
      _exit(4);
    }
  }
  _exit(0);
}
