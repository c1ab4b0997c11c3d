// A job server of four workers, all with the same code. The third one was started with tracing on,
// and keeps the trace of each of its jobs.
//
// shape: leak in one of N workers
// leaks: TraceJob
// harmless: RunJob
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Span {
  std::string name;
  double start;
  double end;
};

class Worker {
 public:
  Worker(std::uint64_t seed, bool traced, std::size_t spans)
      : random_(seed), traced_(traced), spans_(spans) {}

  void RunJob(double now) {
    scratch_ = std::make_unique<std::vector<std::string>>();
    for (std::uint64_t i = 0, n = random_.Between(2, 12); i < n; ++i) {
      scratch_->emplace_back(random_.Between(10, 200), 's');
    }
    if (traced_) TraceJob(now);
  }

 private:
  void TraceJob(double now) {
    auto trace = std::make_unique<std::vector<Span>>();
    trace->reserve(spans_);
    for (std::size_t i = 0; i < spans_; ++i) trace->push_back({"run", now, now + 0.1});
    traces_.push_back(std::move(trace));
  }

  load::Random random_;
  bool traced_;
  std::size_t spans_;
  std::unique_ptr<std::vector<std::string>> scratch_;
  std::vector<std::unique_ptr<std::vector<Span>>> traces_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38);
  const auto base = load::BaseData(run.Pick(1.0, 16.0, 30.0));
  const double rate = run.Pick(1.5, 60.0, 1000.0);
  const auto spans = run.Pick<std::size_t>(4, 4, 12);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&run, rate, spans, i] {
      Worker worker(220 + i, i == 2, spans);
      load::Arrivals jobs(run, 230 + i);
      while (run.Next()) {
        for (unsigned n = jobs.Due(rate); n > 0; --n) worker.RunJob(run.Seconds());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}
