// A compiler server. Its table of symbols is a vector that doubles for each new file of the
// project; after all files were seen, by the middle of the run, it has its final size.
//
// shape: vector that doubles up to its final size
// leaks: none
// harmless: AddSymbol, ParseFile
// runs: small medium large
#include <string>

#include "load.h"

struct Symbol {
  std::uint64_t name;
  std::uint32_t file;
  std::uint32_t line;
};

class Project {
 public:
  void AddSymbol(const Symbol& symbol) { symbols_.push_back(symbol); }
  std::size_t ParseFile(load::Random& random) {
    const std::string text(random.Between(500, 30000), ';');
    return text.size();
  }

 private:
  std::vector<Symbol> symbols_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  Project project;
  load::Random random(611);
  load::Arrivals symbols(run, 612);
  load::Arrivals files(run, 613);
  std::size_t sum = 0;
  while (run.Next()) {
    const bool more = run.Done() < 0.5;
    for (unsigned n = symbols.Due(more ? run.Pick(80.0, 2000.0, 100000.0) : 0); n > 0; --n) {
      project.AddSymbol({random(), 1, 2});
    }
    for (unsigned n = files.Due(100); n > 0; --n) sum += project.ParseFile(random);
  }
  return sum == 1;
}
