#include "cli/supervisor/images/executed_images.h"

#include <filesystem>

#include "cli/basics/message.h"
#include "cli/basics/output_name.h"

namespace memprof {

// The next number whose file may be written.
std::string ExecutedImages::NextName() {
  for (;;) {
    std::string name = InsertBeforeExtension(output_, ".exec" + std::to_string(++number_));
    std::error_code error;
    if (overwrite_ || !std::filesystem::exists(name, error)) return name;
  }
}

std::string ExecutedImages::Add(Image& image) {
  if (++count_ > kMaxExecutedImages) {
    ++without_capture_;
    return {};
  }
  Writing& writing = writing_.emplace_back();
  writing.program = image.name();
  const SnapshotProgram program = image.Describe(EndKind::kExec, 0);
  writing.file = NextName();
  writing.writer.Start(writing.file, image.region(), program, image.History(EndKind::kExec));
  return writing.file;
}

void ExecutedImages::FinishOne(Writing& writing) {
  const auto written = writing.writer.Finish();
  if (written) {
    captures_.push_back(writing.file);
    return;
  }
  ++without_capture_;
  Say("no capture of {} before its exec: {}", writing.program, written.error().message);
}

void ExecutedImages::Collect() {
  std::erase_if(writing_, [this](Writing& writing) {
    if (writing.writer.Busy()) return false;
    FinishOne(writing);
    return true;
  });
}

void ExecutedImages::Finish() {
  for (Writing& writing : writing_) FinishOne(writing);
  writing_.clear();
}

}  // namespace memprof
