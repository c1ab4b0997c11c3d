// BackgroundWorker: a thread that is there before there is work for it. Where a thread can't be had
// later, as under a limit of processes that the program itself exhausts, this one still works. It
// takes no signals.
//
// Thread safety: one owner. Failure: works() is false if the thread could not be started.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "cli/basics/mutex.h"

namespace memprof {

class BackgroundWorker {
 public:
  BackgroundWorker();
  ~BackgroundWorker();  // waits for the work that it was given
  BackgroundWorker(const BackgroundWorker&) = delete;

  bool works() const { return thread_.joinable(); }

  // The work is done after what was given before. Pre: works().
  template <typename Work>
  std::future<std::invoke_result_t<Work>> Do(Work work) {
    using Result = std::invoke_result_t<Work>;
    const auto task = std::make_shared<std::packaged_task<Result()>>(std::move(work));
    Queue([task] { (*task)(); });
    return task->get_future();
  }

 private:
  void Queue(std::function<void()> work);
  void Run();

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_ MEMPROF_GUARDED_BY(mutex_);
  bool ending_ MEMPROF_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace memprof
