// A server of fibers, each with a mapped stack. Stacks of fibers that have returned go to a pool
// and are used again; a fiber that waits for an answer which never comes keeps its stack.
//
// shape: leak of mapped regions, beside a pool of mapped regions that grows to its high-water mark
// leaks: MapStack (mapped)
// harmless: ReadRequest
// either: StartFiber
// runs: medium large
#include <sys/mman.h>

#include <string>

#include "load.h"

class Stacks {
 public:
  explicit Stacks(std::size_t bytes) : bytes_(bytes) {}
  void* Take() {
    if (free_.empty()) return MapStack();
    void* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void Give(void* stack) { free_.push_back(stack); }

 private:
  void* MapStack() const {
    void* stack = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) std::abort();
    std::memset(stack, 0, bytes_);
    return stack;
  }

  std::size_t bytes_;
  std::vector<void*> free_;
};

struct Fiber {
  double ends;
  void* stack;
};

void StartFiber(std::vector<Fiber>& fibers, void* stack, double ends) {
  fibers.push_back({ends, stack});
}

std::string ReadRequest(load::Random& random) { return std::string(random.Between(50, 1500), 'r'); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  Stacks stacks(run.Pick(4096, 16384, 65536));
  std::vector<Fiber> fibers;
  load::Random random(1001);
  load::Arrivals requests(run, 1002);
  while (run.Next()) {
    const double now = run.Seconds();
    for (unsigned n = requests.Due(run.Pick(20.0, 50.0, 400.0)); n > 0; --n) {
      ReadRequest(random);
      const double ends = random.Below(50) == 0 ? 1e9 : now + random.Exponential(0.1);
      StartFiber(fibers, stacks.Take(), ends);
    }
    for (std::size_t i = 0; i < fibers.size();) {
      if (fibers[i].ends > now) {
        ++i;
        continue;
      }
      stacks.Give(fibers[i].stack);
      fibers[i] = fibers.back();
      fibers.pop_back();
    }
  }
}
