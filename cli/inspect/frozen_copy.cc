#include "cli/inspect/frozen_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "cli/inspect/copy_taker.h"
#include "core/write_all.h"

namespace memprof {
namespace {

// The child writes its answer as words and texts; a text is its length and its bytes.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}
  void Word(uint64_t word) { Bytes(&word, sizeof word); }
  void Text(const std::string& text) {
    Word(text.size());
    Bytes(text.data(), text.size());
  }
  void Bytes(const void* from, size_t bytes) { WriteAll(fd_, from, bytes); }

 private:
  const int fd_;
};

class Reader {
 public:
  explicit Reader(int fd) : fd_(fd) {}
  uint64_t Word() {
    uint64_t word = 0;
    Bytes(&word, sizeof word);
    return word;
  }
  std::string Text() {
    std::string text(fine_ ? Word() : 0, '\0');
    Bytes(text.data(), text.size());
    return text;
  }
  void Bytes(void* to, size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes != 0 && fine_) {
      const ssize_t n = read(fd_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      fine_ = n > 0;
      if (!fine_) return;
      at += n;
      bytes -= static_cast<size_t>(n);
    }
  }
  bool fine() const { return fine_; }

 private:
  const int fd_;
  bool fine_ = true;
};

// The child's work. Its exit status is 0 if nothing stays behind.
int TakeAndHold(pid_t process, FrozenBy how, int answer, int until_closed) {
  // A terminal's Ctrl-C, or the end of its session, ends the parent; then this one cleans up.
  setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
  CopyTaker taker(process);
  const auto taken = how == FrozenBy::kCopying ? taker.Take() : taker.Stop();
  Writer writer(answer);
  if (!taken) {
    writer.Word(0);
    writer.Word(static_cast<uint64_t>(taken.error().kind));
    writer.Text(taken.error().message);
    return 0;
  }
  writer.Word(static_cast<uint64_t>(taken->pid));
  writer.Word(static_cast<uint64_t>(taken->pause.count()));
  writer.Word(taken->threads.size());
  for (const FrozenThread& thread : taken->threads) {
    writer.Word(static_cast<uint64_t>(thread.id));
    writer.Text(thread.name);
    writer.Word(thread.stack_pointer);
    writer.Word(thread.thread_pointer);
    writer.Word(thread.registers.size());
    writer.Bytes(thread.registers.data(), thread.registers.size() * sizeof(uint64_t));
  }
  char nothing;
  while (read(until_closed, &nothing, 1) < 0 && errno == EINTR) {
  }
  taker.Release();
  return how == FrozenBy::kStopping || taker.End(taken->pid) ? 0 : 1;
}

}  // namespace

Result<FrozenCopy> FrozenCopy::Take(pid_t process, FrozenBy how) {
  int answer[2];
  int hold[2];
  if (pipe2(answer, O_CLOEXEC) != 0) return Fail(ErrorKind::kIo, strerror(errno));
  ScopedFd answer_read(answer[0]), answer_write(answer[1]);
  if (pipe2(hold, O_CLOEXEC) != 0) return Fail(ErrorKind::kIo, strerror(errno));
  ScopedFd hold_read(hold[0]), hold_write(hold[1]);
  FrozenCopy frozen;
  frozen.how_ = how;
  frozen.since_ = std::chrono::steady_clock::now();
  frozen.taker_ = fork();
  if (frozen.taker_ < 0) {
    frozen.taker_ = 0;
    return Fail(ErrorKind::kIo, fmt::format("can't fork: {}", strerror(errno)));
  }
  if (frozen.taker_ == 0) {
    answer_read.Reset();
    hold_write.Reset();
    _exit(TakeAndHold(process, how, answer_write.get(), hold_read.get()));
  }
  answer_write.Reset();
  frozen.pipe_ = std::move(hold_write);
  Reader reader(answer_read.get());
  frozen.copy_ = static_cast<pid_t>(reader.Word());
  if (frozen.copy_ == 0) {
    const auto kind = static_cast<ErrorKind>(reader.Word());
    const std::string why = reader.Text();
    if (!reader.fine())
      return Fail(ErrorKind::kIo, "the process that was to make the copy has ended");
    return Fail(kind, why);
  }
  frozen.pause_ = std::chrono::microseconds(reader.Word());
  const uint64_t threads = reader.Word();
  for (uint64_t i = 0; i < threads && reader.fine(); ++i) {
    FrozenThread& thread = frozen.threads_.emplace_back();
    thread.id = static_cast<pid_t>(reader.Word());
    thread.name = reader.Text();
    thread.stack_pointer = reader.Word();
    thread.thread_pointer = reader.Word();
    thread.registers.resize(reader.fine() ? reader.Word() : 0);
    reader.Bytes(thread.registers.data(), thread.registers.size() * sizeof(uint64_t));
  }
  if (!reader.fine()) return Fail(ErrorKind::kIo, "the process that held the copy has ended");
  return frozen;
}

bool FrozenCopy::End() {
  // After a move the pipe is another object's.
  if (!pipe_) return true;
  pipe_.Reset();
  int status = 0;
  while (waitpid(taker_, &status, 0) < 0 && errno == EINTR) {
  }
  if (how_ == FrozenBy::kStopping) {
    pause_ =
        std::chrono::ceil<std::chrono::microseconds>(std::chrono::steady_clock::now() - since_);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace memprof
