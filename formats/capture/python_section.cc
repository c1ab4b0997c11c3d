#include "formats/capture/python_section.h"

#include <map>

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_format.h"

namespace memprof {
namespace {

namespace cf = capture_format;

}  // namespace

std::string EncodePython(const std::vector<SnapshotPythonFunction>& functions) {
  ByteWriter out;
  if (functions.empty()) return out.bytes();
  std::map<std::string_view, uint64_t> numbers;
  for (const SnapshotPythonFunction& function : functions) {
    numbers.emplace(function.file, 0);
    numbers.emplace(function.function, 0);
  }
  out.Varint(numbers.size());
  uint64_t next = 0;
  for (auto& [text, number] : numbers) {
    out.String(text);
    number = next++;
  }
  out.Varint(functions.size());
  uint64_t file = 0;
  uint64_t name = 0;
  uint64_t line = 0;
  for (const SnapshotPythonFunction& f : functions) out.Delta(numbers.at(f.file), file);
  for (const SnapshotPythonFunction& f : functions) out.Delta(numbers.at(f.function), name);
  for (const SnapshotPythonFunction& f : functions) out.Delta(f.first_line, line);
  return out.bytes();
}

bool DecodePython(std::string_view raw, std::vector<SnapshotPythonFunction>& functions) {
  ByteReader in(raw);
  std::vector<std::string_view> texts(in.CountOfItems(1));
  for (std::string_view& text : texts) text = in.String();
  functions.resize(in.CountOfItems(3));
  uint64_t all_bytes = 0;
  for (const auto member : {&SnapshotPythonFunction::file, &SnapshotPythonFunction::function}) {
    uint64_t text = 0;
    for (SnapshotPythonFunction& function : functions) {
      if (in.Delta(text) >= texts.size() || in.failed()) return false;
      if ((all_bytes += texts[text].size()) > cf::kMaxSourceBytes) return false;
      function.*member = texts[text];
    }
  }
  uint64_t line = 0;
  for (SnapshotPythonFunction& function : functions) {
    function.first_line = static_cast<uint32_t>(in.Delta(line));
  }
  return !in.failed();
}

bool CheckPythonFrames(bool lost, Snapshot& snapshot) {
  for (SnapshotFrame& frame : snapshot.frames) {
    if (!IsPython(frame)) continue;
    if (lost) {
      if (snapshot.python.empty()) snapshot.python.push_back({"", "?", 0});
      frame.offset = PythonOffset(0, PythonLineOf(frame.offset));
    } else if (PythonFunctionOf(frame.offset) >= snapshot.python.size()) {
      return false;
    }
  }
  return true;
}

}  // namespace memprof
