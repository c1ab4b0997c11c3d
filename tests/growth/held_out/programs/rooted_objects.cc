// A script host with a garbage collector of its own. Scripts that export an object root it for
// ever, so each collection leaves a little more: the saw-tooth's lower edge rises, and so does its
// upper one.
//
// shape: leak at the very place of a garbage collector's saw-tooth
// leaks: NewObject
// harmless: CompileScript
// runs: small medium large
#include <algorithm>
#include <string>

#include "load.h"

struct Object {
  Object* next_of_all;
  bool rooted;
  char payload[47];
};

class Heap {
 public:
  explicit Heap(std::size_t nursery) : nursery_(nursery), limit_(nursery) {}
  Object* NewObject() {
    if (count_ >= limit_) Collect();
    all_ = new Object{all_, false, {}};
    ++count_;
    return all_;
  }

 private:
  void Collect() {
    Object** link = &all_;
    while (*link != nullptr) {
      Object* object = *link;
      if (object->rooted) {
        link = &object->next_of_all;
        continue;
      }
      *link = object->next_of_all;
      delete object;
      --count_;
    }
    limit_ = count_ + nursery_;
  }

  std::size_t nursery_;
  std::size_t limit_;
  std::size_t count_ = 0;
  Object* all_ = nullptr;
};

std::string CompileScript(load::Random& random) {
  return std::string(random.Between(200, 4000), 'c');
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 10.0));
  Heap heap(run.Pick(150, 4000, 100000));
  load::Random random(971);
  load::Arrivals objects(run, 972);
  while (run.Next()) {
    for (unsigned n = objects.Due(run.Pick(60.0, 2000.0, 50000.0)); n > 0; --n) {
      Object* object = heap.NewObject();
      object->rooted = random.Chance(run.Pick(0.1, 0.08, 0.15));
      if (n % 16 == 0) CompileScript(random);
    }
  }
}
