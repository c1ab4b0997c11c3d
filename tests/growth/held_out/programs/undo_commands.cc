// A drawing program whose undo list has no end: each stroke is a command with the pixels that it
// covered. The preview is drawn again with every stroke.
//
// shape: history kept without limit, of objects of many sizes and types
// leaks: Stroke, Fill
// harmless: DrawPreview
// runs: medium large
#include <memory>

#include "load.h"

class Command {
 public:
  virtual ~Command() = default;
  virtual std::size_t Pixels() const = 0;
};

class StrokeCommand : public Command {
 public:
  explicit StrokeCommand(std::size_t pixels) : before_(pixels) {}
  std::size_t Pixels() const override { return before_.size(); }

 private:
  std::vector<std::uint16_t> before_;
};

class FillCommand : public Command {
 public:
  explicit FillCommand(std::size_t pixels) : colors_(new std::uint8_t[pixels]), pixels_(pixels) {}
  std::size_t Pixels() const override { return pixels_ + colors_[0] * 0; }

 private:
  std::unique_ptr<std::uint8_t[]> colors_;
  std::size_t pixels_;
};

class Editor {
 public:
  void Stroke(std::size_t pixels) { undo_.push_back(std::make_unique<StrokeCommand>(pixels)); }
  void Fill(std::size_t pixels) { undo_.push_back(std::make_unique<FillCommand>(pixels)); }
  void DrawPreview(std::size_t width) {
    preview_ = std::make_unique<std::uint32_t[]>(width * width);
  }

 private:
  std::vector<std::unique_ptr<Command>> undo_;
  std::unique_ptr<std::uint32_t[]> preview_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 44, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 40.0));
  Editor editor;
  load::Random random(351);
  load::Arrivals strokes(run, 352);
  const std::size_t most = run.Pick(20, 400, 8000);
  while (run.Next()) {
    for (unsigned n = strokes.Due(run.Pick(10.0, 20.0, 60.0)); n > 0; --n) {
      if (random.Below(3) == 0) {
        editor.Fill(random.Between(1, most));
      } else {
        editor.Stroke(random.Between(1, most));
      }
      editor.DrawPreview(random.Between(30, 200));
    }
  }
}
