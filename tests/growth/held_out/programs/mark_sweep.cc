// A script host with a garbage collector of its own: objects are allocated until the heap is twice
// as large as after the last collection, then those that no root reaches are freed.
//
// shape: saw-tooth of a garbage collector
// leaks: none
// harmless: NewObject, RunScript
// runs: small medium large
#include <algorithm>

#include "load.h"

struct Object {
  Object* next_of_all;
  Object* reference;
  bool marked;
  char payload[40];
};

class Heap {
 public:
  explicit Heap(std::size_t roots) : roots_(roots) {}

  Object* NewObject() {
    if (count_ >= limit_) Collect();
    auto* object = new Object{all_, nullptr, false, {}};
    all_ = object;
    ++count_;
    return object;
  }
  void SetRoot(std::size_t i, Object* object) { roots_[i] = object; }
  std::size_t Roots() const { return roots_.size(); }

 private:
  void Collect() {
    for (Object* root : roots_) {
      for (Object* o = root; o != nullptr && !o->marked; o = o->reference) o->marked = true;
    }
    Object** link = &all_;
    while (*link != nullptr) {
      Object* object = *link;
      if (object->marked) {
        object->marked = false;
        link = &object->next_of_all;
      } else {
        *link = object->next_of_all;
        delete object;
        --count_;
      }
    }
    limit_ = std::max<std::size_t>(count_ * 2, 256);
  }

  std::vector<Object*> roots_;
  Object* all_ = nullptr;
  std::size_t count_ = 0;
  std::size_t limit_ = 256;
};

void RunScript(Heap& heap, load::Random& random) {
  Object* list = nullptr;
  for (std::uint64_t i = 0, n = random.Between(1, 12); i < n; ++i) {
    Object* object = heap.NewObject();
    object->reference = list;
    list = object;
    heap.SetRoot(0, list);  // the script's stack
  }
  if (random.Below(4) == 0) heap.SetRoot(random.Between(1, heap.Roots() - 1), list);
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 10.0));
  Heap heap(run.Pick(30, 1000, 50000));
  load::Random random(561);
  load::Arrivals scripts(run, 562);
  while (run.Next()) {
    for (unsigned n = scripts.Due(run.Pick(20.0, 1000.0, 40000.0)); n > 0; --n) {
      RunScript(heap, random);
    }
  }
}
