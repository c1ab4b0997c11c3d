// A daemon that rotates its in-memory log: the text of four seconds is packed to one block, which
// was to be uploaded and freed. The upload was switched off; the blocks stay.
//
// shape: leak by rotation, in few large steps
// leaks: PackLog
// harmless: WriteLine
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

class Log {
 public:
  void WriteLine(load::Random& random) {
    lines_.push_back("worker[" + std::to_string(random.Below(99)) + "] " +
                     std::string(random.Between(10, 90), 'l'));
  }
  void PackLog() {
    std::size_t bytes = 0;
    for (const auto& line : lines_) bytes += line.size();
    archives_.push_back(std::make_unique<char[]>(bytes / 5 + 16));
    lines_.clear();
  }

 private:
  std::vector<std::string> lines_;
  std::vector<std::unique_ptr<char[]>> archives_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 54);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 30.0));
  Log log;
  load::Random random(991);
  load::Arrivals lines(run, 992);
  double packed = 0;
  while (run.Next()) {
    for (unsigned n = lines.Due(run.Pick(20.0, 600.0, 30000.0)); n > 0; --n) log.WriteLine(random);
    if (run.Seconds() - packed > 4) {
      packed = run.Seconds();
      log.PackLog();
    }
  }
}
