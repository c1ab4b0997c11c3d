/* Runs the memprof command that belongs to the tracker in this process.
 *
 * The command isn't watched itself: its environment lacks LD_PRELOAD. What it reads and writes are
 * files in memory, so that neither side waits for the other, and no SIGPIPE comes.
 * Thread safety: any thread. Failure: false; it can't be run, or it failed. */
#ifndef MEMPROF_DETAIL_MEMPROF_COMMAND_H_
#define MEMPROF_DETAIL_MEMPROF_COMMAND_H_

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "memprof/memprof.h"

namespace memprof {
namespace detail {

/* The file that the tracker is mapped from, whatever link it was loaded by. Empty: there is none.
 */
inline std::string TrackerFile() {
  const auto table = reinterpret_cast<uintptr_t>(memprof_client());
  FILE* const maps = table != 0 ? std::fopen("/proc/self/maps", "re") : nullptr;
  if (maps == nullptr) return {};
  std::string file;
  char* line = nullptr;
  size_t capacity = 0;
  while (file.empty() && getline(&line, &capacity, maps) > 0) {
    uintptr_t start = 0, end = 0;
    const char* const path = std::strchr(line, '/');
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 && table >= start &&
        table < end && path != nullptr) {
      file.assign(path, std::strcspn(path, "\n"));
    }
  }
  std::free(line);
  std::fclose(maps);
  return file;
}

/* PREFIX/bin/memprof of PREFIX/lib/memprof/libmemprof_preload.so, or of
 * PREFIX/lib/ARCHITECTURE/memprof/…; else one that is in PATH. */
inline std::string MemprofCommand() {
  const std::string library = TrackerFile();
  const std::string folder = library.substr(0, library.rfind('/'));
  for (const char* bin : {"/../../bin/memprof", "/../../../bin/memprof"}) {
    if (!folder.empty() && access((folder + bin).c_str(), X_OK) == 0) return folder + bin;
  }
  return "memprof";
}

/* The environment without what would have the command watched, or ask servers for debug info. */
inline std::vector<char*> UnwatchedEnvironment() {
  std::vector<char*> kept;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string entry = *at;
    if (entry.rfind("LD_PRELOAD=", 0) != 0 && entry.rfind("MEMPROF_", 0) != 0 &&
        entry.rfind("DEBUGINFOD_URLS=", 0) != 0) {
      kept.push_back(*at);
    }
  }
  kept.push_back(nullptr);
  return kept;
}

/* Waits until it ends; ends it after a minute. True: with status 0. */
inline bool Succeeds(pid_t pid) {
  for (int waited_ms = 0;; ++waited_ms) {
    int status = 0;
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    /* Somebody else reaps this process's children: what it wrote is all there is to tell. */
    if (ended < 0 && errno == ECHILD) return true;
    if (waited_ms == 60000) kill(pid, SIGKILL);
    const timespec pause = {0, 1000000};
    nanosleep(&pause, nullptr);
  }
}

inline bool RunMemprof(const char* subcommand, const std::string& input, std::string* output) {
  const int in = memfd_create("memprof-in", MFD_CLOEXEC);
  const int out = memfd_create("memprof-out", MFD_CLOEXEC);
  bool done = in >= 0 && out >= 0;
  for (size_t at = 0; done && at < input.size();) {
    const ssize_t bytes = write(in, input.data() + at, input.size() - at);
    if (bytes > 0) at += static_cast<size_t>(bytes);
    done = bytes > 0 || errno == EINTR;
  }
  if (done) {
    lseek(in, 0, SEEK_SET);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const std::string command = MemprofCommand();
    std::string name = "memprof", argument = subcommand;
    char* const arguments[] = {&name[0], &argument[0], nullptr};
    std::vector<char*> environment = UnwatchedEnvironment();
    pid_t pid = 0;
    done = posix_spawnp(&pid, command.c_str(), &files, nullptr, arguments, environment.data()) == 0;
    posix_spawn_file_actions_destroy(&files);
    done = done && Succeeds(pid);
  }
  char buffer[4096];
  for (off_t at = 0; done;) {
    const ssize_t bytes = pread(out, buffer, sizeof buffer, at);
    if (bytes <= 0) break;
    output->append(buffer, static_cast<size_t>(bytes));
    at += bytes;
  }
  if (in >= 0) close(in);
  if (out >= 0) close(out);
  return done;
}

} /* namespace detail */
} /* namespace memprof */

#endif /* MEMPROF_DETAIL_MEMPROF_COMMAND_H_ */
