#include "cli/serve/serve.h"

#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>

#include "cli/basics/mutex.h"
#include "cli/live/served_addresses.h"
#include "cli/serve/routes.h"

namespace memprof {
namespace {

// Looks from time to time while nobody asks: it notices runs that begin and end, says in the notice
// which are served, and finds names before the first reader waits for them.
class Keeper {
 public:
  Keeper(ServedRuns& runs, const std::string& url) : runs_(runs), notice_(url) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error&) {
      // Readers find all of it themselves, but for the notice.
    }
  }
  ~Keeper() {
    {
      const MutexLock lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Keeper(const Keeper&) = delete;

 private:
  static constexpr std::chrono::seconds kWhileOneIsMissing{1};
  static constexpr std::chrono::seconds kUsually{10};

  void Run() {
    mutex_.lock();
    while (!ends_) {
      mutex_.unlock();
      runs_.Look();
      const ServedRuns::State state = runs_.Now();
      notice_.Publish(state.supervisors);
      mutex_.lock();
      const auto next =
          std::chrono::steady_clock::now() + (state.complete ? kUsually : kWhileOneIsMissing);
      while (!ends_ && changed_.wait_until(mutex_, next) != std::cv_status::timeout) {
      }
    }
    mutex_.unlock();
  }

  ServedRuns& runs_;
  ServedNotice notice_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool ends_ MEMPROF_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

void Serve(const HttpEngine& engine, ServedRuns& runs, const AccessRules& rules,
           const Listener& listener, int stop) {
  Routes routes(runs, rules);
  const Keeper keeper(runs, listener.url());
  engine.Serve([&routes](const HttpRequest& request) { return routes.Answer(request); }, {},
               listener.fd(), stop);
}

}  // namespace memprof
