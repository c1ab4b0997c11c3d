// An editor whose undo list is limited to a number of steps; from then on, each new step drops the
// oldest one. Autosave copies the whole text and frees the copy.
//
// shape: bounded history, beside temporaries
// leaks: none
// harmless: Type, Autosave
// runs: small medium large
#include <deque>
#include <string>

#include "load.h"

class Editor {
 public:
  explicit Editor(std::size_t steps) : steps_(steps), text_(20000, 't') {}
  void Type(load::Random& random) {
    text_[random.Below(text_.size())] = 'x';
    undo_.push_back(text_.substr(random.Below(100), random.Between(20, 400)));
    if (undo_.size() > steps_) undo_.pop_front();
  }
  std::size_t Autosave() const { return std::string(text_.begin(), text_.end()).size(); }

 private:
  std::size_t steps_;
  std::string text_;
  std::deque<std::string> undo_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 30);
  const auto base = load::BaseData(run.Pick(1.0, 2.0, 10.0));
  const double rate = run.Pick(10.0, 150.0, 6000.0);
  Editor editor(static_cast<std::size_t>(rate * run.Length() / 4));
  load::Random random(811);
  load::Arrivals keys(run, 812);
  double saved = 0;
  while (run.Next()) {
    for (unsigned n = keys.Due(rate); n > 0; --n) editor.Type(random);
    if (run.Seconds() - saved > 0.5) {
      saved = run.Seconds();
      editor.Autosave();
    }
  }
}
