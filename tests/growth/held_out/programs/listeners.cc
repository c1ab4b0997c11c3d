// A user interface toolkit. A dialog registers a listener with the document when it opens; closing
// it frees its widgets but leaves its listener registered.
//
// shape: listeners that are registered and never removed
// leaks: RegisterListener
// harmless: OpenDialog, EditText
// runs: small medium large
#include <array>
#include <functional>
#include <memory>
#include <string>

#include "load.h"

class Document {
 public:
  template <typename Listener>
  void RegisterListener(Listener listener) {
    listeners_.push_back(std::make_unique<std::function<void(int)>>(std::move(listener)));
  }
  void EditText(std::uint64_t bytes) { text_ = std::string(bytes, 't'); }
  std::size_t Listeners() const { return listeners_.size(); }

 private:
  std::vector<std::unique_ptr<std::function<void(int)>>> listeners_;
  std::string text_;
};

struct Widget {
  std::string label;
  int x = 0;
};

class Dialog {
 public:
  Dialog(Document& document, load::Random& random) {
    for (std::uint64_t i = 0, n = random.Between(5, 30); i < n; ++i) {
      widgets_.push_back(std::make_unique<Widget>(Widget{std::string(random.Between(3, 50), 'w')}));
    }
    std::array<std::uint64_t, 5> seen = {random(), 1, 2, 3, 4};
    document.RegisterListener([seen](int change) mutable { seen[change % 5] += change; });
  }

 private:
  std::vector<std::unique_ptr<Widget>> widgets_;
};

void OpenDialog(Document& document, load::Random& random,
                std::vector<std::unique_ptr<Dialog>>& open) {
  open[random.Below(open.size())] = std::make_unique<Dialog>(document, random);
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 33);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 90.0));
  Document document;
  std::vector<std::unique_ptr<Dialog>> open(20);
  load::Random random(161);
  load::Arrivals dialogs(run, 162);
  load::Arrivals edits(run, 163);
  while (run.Next()) {
    for (unsigned n = dialogs.Due(run.Pick(3.0, 120.0, 8000.0)); n > 0; --n) {
      OpenDialog(document, random, open);
    }
    for (unsigned n = edits.Due(300); n > 0; --n) document.EditText(random.Between(1000, 60000));
  }
  return document.Listeners() == 1;
}
