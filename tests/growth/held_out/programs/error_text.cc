// A batch job runner that appends every warning to one string, to be sent by mail when the run
// ends. The run never ends.
//
// shape: a string that doubles without end
// leaks: AppendWarning
// harmless: RunJob
// runs: small medium large
#include <string>

#include "load.h"

class Runner {
 public:
  void RunJob(load::Random& random, double warns) {
    std::vector<double> work(random.Between(10, 500));
    for (auto& value : work) value = random.Uniform();
    if (random.Chance(warns)) AppendWarning(random(), work.front());
  }

 private:
  void AppendWarning(std::uint64_t job, double value) {
    char line[120];
    const int length = std::snprintf(line, sizeof line, "job %016lx: value %.17g out of range\n",
                                     static_cast<unsigned long>(job), value);
    mail_.append(line, length);
  }

  std::string mail_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 30.0));
  Runner runner;
  load::Random random(81);
  load::Arrivals jobs(run, 82);
  const double rate = run.Pick(300.0, 3000.0, 30000.0);
  while (run.Next()) {
    for (unsigned n = jobs.Due(rate); n > 0; --n) runner.RunJob(random, run.Pick(0.04, 0.08, 0.6));
  }
}
