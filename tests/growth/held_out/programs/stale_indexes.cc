// A search node that rotates its segments: each rotation makes a new index of raw pointers and
// clears the older vector, without deleting what its pointers point at.
//
// shape: leak by rotation whose clean-up forgets the elements
// leaks: IndexTerm
// harmless: Query
// runs: small medium large
#include <string>

#include "load.h"

struct Term {
  std::uint32_t documents;
  char text[20];
};

class Segment {
 public:
  void IndexTerm(load::Random& random) {
    terms_.push_back(new Term{static_cast<std::uint32_t>(random.Below(1000)), "term"});
  }
  void Rotate() { terms_.clear(); }
  std::vector<std::uint32_t> Query(load::Random& random) const {
    return std::vector<std::uint32_t>(random.Between(1, 1000), 7);
  }

 private:
  std::vector<Term*> terms_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 50.0));
  Segment segment;
  load::Random random(381);
  load::Arrivals terms(run, 382);
  load::Arrivals queries(run, 383);
  double rotated = 0;
  while (run.Next()) {
    for (unsigned n = terms.Due(run.Pick(8.0, 400.0, 30000.0)); n > 0; --n)
      segment.IndexTerm(random);
    for (unsigned n = queries.Due(400); n > 0; --n) segment.Query(random);
    if (run.Seconds() - rotated > 5) {
      rotated = run.Seconds();
      segment.Rotate();
    }
  }
}
