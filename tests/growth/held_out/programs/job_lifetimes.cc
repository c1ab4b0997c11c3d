// A continuous-integration server. Most jobs take moments, a few take long: the lifetimes have a
// heavy tail, so that after a quick rise the number of jobs that run still creeps up for a while,
// and moves a lot.
//
// shape: heavy-tailed lifetimes
// leaks: none
// harmless: StartJob, StreamLog
// runs: small medium large
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Job {
  std::string repository;
  std::vector<std::string> environment;
};

class Server {
 public:
  void StartJob(double now, load::Random& random) {
    // Pareto, from 0.05 s to 10 s.
    const double length = std::min(10.0, 0.05 / random.Uniform());
    auto job = std::make_unique<Job>();
    job->repository = "https://git.example.org/group/project-" + std::to_string(random.Below(500));
    job->environment.assign(random.Between(2, 20), std::string(40, 'e'));
    jobs_.emplace(now + length, std::move(job));
  }
  void EndJobs(double now) {
    while (!jobs_.empty() && jobs_.begin()->first < now) jobs_.erase(jobs_.begin());
  }

 private:
  std::multimap<double, std::unique_ptr<Job>> jobs_;
};

std::string StreamLog(load::Random& random) { return std::string(random.Between(100, 8000), 'l'); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 52);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 40.0));
  Server server;
  load::Random random(781);
  load::Arrivals jobs(run, 782);
  while (run.Next()) {
    for (unsigned n = jobs.Due(run.Pick(40.0, 500.0, 20000.0)); n > 0; --n) {
      server.StartJob(run.Seconds(), random);
      if (n % 8 == 0) StreamLog(random);
    }
    server.EndJobs(run.Seconds());
  }
}
