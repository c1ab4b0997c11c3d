// An interpreter that compiles a function when it was called a hundred times. Common functions
// become hot early on, rare ones late; the last of them after a fifth to two thirds of the run.
//
// shape: warm-up, short at the small scale, long at the large one
// leaks: none
// harmless: Compile, Evaluate
// runs: small medium large
#include <memory>

#include "load.h"

struct Code {
  std::vector<std::uint8_t> bytes;
  std::unique_ptr<std::uint32_t[]> relocations;
};

class Interpreter {
 public:
  Interpreter(std::size_t functions, std::size_t bytes)
      : calls_(functions), code_(functions), bytes_(bytes) {}
  double Evaluate(std::size_t function, load::Random& random) {
    if (++calls_[function] == 100) Compile(function);
    const std::vector<double> stack(random.Between(4, 64), 1.0);
    return stack.back();
  }

 private:
  void Compile(std::size_t function) {
    code_[function] = std::make_unique<Code>();
    code_[function]->bytes.assign(bytes_ + function % bytes_, 0xc3);
    code_[function]->relocations = std::make_unique<std::uint32_t[]>(bytes_ / 16);
  }

  std::vector<std::uint32_t> calls_;
  std::vector<std::unique_ptr<Code>> code_;
  std::size_t bytes_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 30.0));
  const auto functions = run.Pick<std::size_t>(100, 1000, 8000);
  Interpreter interpreter(functions, run.Pick(100, 600, 3000));
  load::Random random(521);
  load::Arrivals calls(run, 522);
  double sum = 0;
  while (run.Next()) {
    for (unsigned n = calls.Due(run.Pick(6e3, 60e3, 300e3)); n > 0; --n) {
      sum += interpreter.Evaluate(random.Zipf(functions) - 1, random);
    }
  }
  return sum < 0;
}
