// fail_call: runs a command with one system call of one process failing.
//
//   fail_call WHERE CALL NTH ERRNO REPORT COMMAND…
//
//   WHERE   supervisor  the command's own process, with all its threads, but not the loader's
//   calls:
//                       no program starts without its libraries
//           tracker     the tracker's own calls in the other processes: those that come from
//                       libmemprof_preload.so, not what the allocator calls beneath a hook
//   CALL    mmap mprotect open openat write pwrite64 ftruncate fallocate memfd_create socket …
//   NTH     which of them fails, from 1 on; 0: none
//   ERRNO   as a number
//   REPORT  a file that gets "SEEN FAILED": how many such calls there were up to the end, and
//           whether one failed
//
// Exits as the command does (128 + N by a signal). By ptrace: raw system calls fail too, and the
// command sees no seccomp filter, which the tracker would take for its host's.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 4096, kStackWords = 64 };

static const struct {
  const char* name;
  long number;
} kCalls[] = {
    {"mmap", SYS_mmap},           {"mprotect", SYS_mprotect},   {"open", SYS_open},
    {"openat", SYS_openat},       {"write", SYS_write},         {"pwrite64", SYS_pwrite64},
    {"ftruncate", SYS_ftruncate}, {"fallocate", SYS_fallocate}, {"memfd_create", SYS_memfd_create},
    {"socket", SYS_socket},       {"connect", SYS_connect},     {"recvmsg", SYS_recvmsg},
    {"sendto", SYS_sendto},       {"fsync", SYS_fsync},         {"rename", SYS_rename},
    {"read", SYS_read},           {"pread64", SYS_pread64},     {"clone3", SYS_clone3},
    {"fcntl", SYS_fcntl},         {"sendmsg", SYS_sendmsg}};

// The state of each thread; found by its id.
static struct Thread {
  pid_t id;
  pid_t process;
  int fails;  // its present call
} threads[kThreads];

static pid_t supervisor;
static int of_tracker;
static long call_number;
static long nth, seen, failed;

static struct Thread* thread_of(pid_t id) {
  struct Thread* free_one = NULL;
  for (int i = 0; i < kThreads; ++i) {
    if (threads[i].id == id) return &threads[i];
    if (threads[i].id == 0 && free_one == NULL) free_one = &threads[i];
  }
  if (free_one == NULL) abort();
  memset(free_one, 0, sizeof *free_one);
  free_one->id = id;
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", id);
  FILE* file = fopen(path, "r");
  free_one->process = id;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    int process;
    if (sscanf(line, "Tgid: %d", &process) == 1) free_one->process = process;
  }
  if (file != NULL) fclose(file);
  return free_one;
}

enum Code { kNone, kTrackers, kLibcs, kLoaders, kOthers };

// The owner of the code at `address`.
static enum Code code_at(pid_t id, uint64_t address) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/maps", id);
  FILE* file = fopen(path, "r");
  enum Code result = kNone;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    uint64_t begin, end;
    char access[8];
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3) continue;
    if (address < begin || address >= end || access[2] != 'x') continue;
    result = strstr(line, "libmemprof_preload") != NULL ? kTrackers
             : strstr(line, "/libc.so") != NULL         ? kLibcs
             : strstr(line, "/ld-linux") != NULL        ? kLoaders
                                                        : kOthers;
  }
  if (file != NULL) fclose(file);
  return result;
}

// True if the call comes from the tracker: from its own code, or from a function of libc that it
// called. The frames of mmap and mprotect have only a return address. So malloc's requests beneath
// a hook are recognised: their return address is in libc. open's frame has more in it.
static int is_trackers(pid_t id, const struct __ptrace_syscall_info* info) {
  const int plain = call_number == SYS_mmap || call_number == SYS_mprotect;
  if (code_at(id, info->instruction_pointer) == kTrackers) return 1;
  for (uint64_t i = 0; i < kStackWords; ++i) {
    errno = 0;
    const long word = ptrace(PTRACE_PEEKDATA, id, (void*)(info->stack_pointer + 8 * i), 0);
    if (errno != 0) return 0;
    const enum Code code = code_at(id, (uint64_t)word);
    if (code != kNone && (plain || code != kLibcs)) return code == kTrackers;
  }
  return 0;
}

static void at_call(pid_t id, int error) {
  struct Thread* thread = thread_of(id);
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread->fails) {
    thread->fails = 0;
    ptrace(PTRACE_POKEUSER, id, offsetof(struct user_regs_struct, rax), (long)-error);
    return;
  }
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY || (long)info.entry.nr != call_number) return;
  if ((thread->process == supervisor) == of_tracker) return;
  if (of_tracker ? !is_trackers(id, &info) : code_at(id, info.instruction_pointer) == kLoaders) {
    return;
  }
  if (++seen != nth) return;
  failed = thread->fails = 1;
  ptrace(PTRACE_POKEUSER, id, offsetof(struct user_regs_struct, orig_rax), -1L);
}

int main(int argc, char** argv) {
  if (argc < 7) {
    fprintf(stderr, "usage: fail_call supervisor|tracker CALL NTH ERRNO REPORT COMMAND...\n");
    return 2;
  }
  of_tracker = strcmp(argv[1], "tracker") == 0;
  call_number = -1;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i) {
    if (strcmp(kCalls[i].name, argv[2]) == 0) call_number = kCalls[i].number;
  }
  if (call_number < 0) {
    fprintf(stderr, "fail_call: no call %s\n", argv[2]);
    return 2;
  }
  nth = atol(argv[3]);
  const int error = atoi(argv[4]);
  supervisor = fork();
  if (supervisor == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execv(argv[6], argv + 6);
    _exit(127);
  }
  int status;
  waitpid(supervisor, &status, 0);
  ptrace(PTRACE_SETOPTIONS, supervisor, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
             PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  ptrace(PTRACE_SYSCALL, supervisor, 0, 0);
  int result = 125;
  int executed = 0;  // the command itself
  for (;;) {
    const pid_t id = waitpid(-1, &status, __WALL);
    if (id < 0) break;  // all have ended
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (id == supervisor) {
        result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      thread_of(id)->id = 0;
      continue;
    }
    int pass_on = 0;
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXEC) {
      if (id == supervisor) executed = 1;
    } else if (event == 0 && WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      if (executed) at_call(id, error);
    } else if (event == 0) {
      siginfo_t info;
      // A new thread's first stop is no signal; nor is a group's stop.
      const int is_signal = ptrace(PTRACE_GETSIGINFO, id, 0, &info) == 0;
      pass_on = is_signal && WSTOPSIG(status) != SIGSTOP ? WSTOPSIG(status) : 0;
    }
    ptrace(PTRACE_SYSCALL, id, 0, (long)pass_on);
  }
  FILE* report = fopen(argv[5], "w");
  if (report == NULL) return 125;
  fprintf(report, "%ld %ld\n", seen, failed);
  fclose(report);
  return result;
}
