// A task server that starts one more thread whenever tasks wait, up to thirty-two; each thread has
// a scratch buffer and an arena for its tasks. The last of them starts at half time.
//
// shape: thread pool that grows to N
// leaks: none
// harmless: StartWorker, WorkerLoop, RunTask
// runs: small medium large
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "load.h"

class Pool {
 public:
  explicit Pool(std::size_t scratch) : scratch_(scratch) {}
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void StartWorker() { threads_.emplace_back(&Pool::WorkerLoop, this); }
  std::size_t Workers() const { return threads_.size(); }
  void Post(std::uint64_t task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(task);
    }
    wake_.notify_one();
  }

 private:
  static std::size_t RunTask(std::uint64_t task) { return std::string(task % 4000, 't').size(); }
  void WorkerLoop() {
    auto scratch = std::make_unique<std::vector<char>>(scratch_, 's');
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (ends_) return;
      const std::uint64_t task = tasks_.front();
      tasks_.pop_front();
      lock.unlock();
      (*scratch)[0] = static_cast<char>(RunTask(task));
      lock.lock();
    }
  }

  std::size_t scratch_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::deque<std::uint64_t> tasks_;
  std::vector<std::thread> threads_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 20.0));
  Pool pool(run.Pick(400, 12000, 600000));
  load::Random random(671);
  load::Arrivals tasks(run, 672);
  while (run.Next()) {
    if (run.Done() * 64 > static_cast<double>(pool.Workers()) && pool.Workers() < 32)
      pool.StartWorker();
    for (unsigned n = tasks.Due(run.Pick(200.0, 1000.0, 5000.0)); n > 0; --n) pool.Post(random());
  }
}
