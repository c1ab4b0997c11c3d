#include "cli/basics/background_worker.h"

#include <csignal>
#include <system_error>

namespace memprof {

BackgroundWorker::BackgroundWorker() {
  // A thread has the signal mask of the one that starts it, and signals are for the owner's loop.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // works() says so.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BackgroundWorker::~BackgroundWorker() {
  if (!works()) return;
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void BackgroundWorker::Queue(std::function<void()> work) {
  {
    const MutexLock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void BackgroundWorker::Run() {
  for (;;) {
    std::function<void()> work;
    {
      const MutexLock lock(mutex_);
      while (!ending_ && queue_.empty()) changed_.wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace memprof
