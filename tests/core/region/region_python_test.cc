// Python frames in a region, which the profiled process may have damaged.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "core/region/region_reader.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

class RegionPythonTest : public testing::Test {
 protected:
  uint32_t Text(const std::string& text) {
    const uint32_t at =
        region_.count(Table::kPythonBytes).fetch_add(static_cast<uint32_t>(text.size()));
    std::memcpy(&region_.At<char>(Table::kPythonBytes, at), text.data(), text.size());
    return at;
  }
  PythonCodeRecord& Code(const std::string& file, const std::string& name, int32_t first_line) {
    const uint32_t index = region_.count(Table::kPythonCodes).fetch_add(1);
    auto& code = region_.At<PythonCodeRecord>(Table::kPythonCodes, index);
    code.file_offset = Text(file);
    code.file_bytes = static_cast<uint32_t>(file.size());
    code.name_offset = Text(name);
    code.name_bytes = static_cast<uint32_t>(name.size());
    code.first_line = first_line;
    code.filled = 1;
    return code;
  }
  void Allocate(uint32_t node) {
    Cell& cell = region_.NewCell(region_.Site(node));
    cell.allocated_bytes = 100;
    cell.allocated_count = 1;
    region_.SetPeak({100, 100, 1, true});
  }
  Snapshot Read() {
    region_.header().state = static_cast<uint32_t>(TrackerState::kCounting);
    auto snapshot = ReadRegion(region_.fd(), {});
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    return snapshot ? **snapshot : Snapshot();
  }
  // "file function first-line : line" of the only site's frames, root first.
  std::vector<std::string> Frames() {
    const Snapshot snapshot = Read();
    std::vector<std::string> frames;
    for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
      const SnapshotFrame& frame = snapshot.frames[snapshot.nodes[i].frame];
      if (!IsPython(frame)) {
        frames.push_back("native");
        continue;
      }
      const auto& function = snapshot.python.at(PythonFunctionOf(frame.offset));
      frames.push_back(function.file + " " + function.function + " " +
                       std::to_string(function.first_line) + ":" +
                       std::to_string(PythonLineOf(frame.offset)));
    }
    return frames;
  }

  MadeRegion region_;
};

TEST_F(RegionPythonTest, HasTheFunctionAndTheLineOfEachFrame) {
  PythonCodeRecord& code = Code("/a.py", "build", 10);
  const std::string table = {'\x80' | 13 << 3 | 1, 4, '\x80' | 13 << 3, 2};
  code.lines_offset = Text(table);
  code.lines_bytes = 4;
  code.lines = static_cast<uint32_t>(PythonLines::kLocations);
  const uint32_t native = region_.Node(0, 0x5000);
  const uint32_t outer = region_.Node(native, PythonWord(0, 1));
  Allocate(region_.Node(outer, PythonWord(0, 2)));
  EXPECT_EQ(Frames(),
            (std::vector<std::string>{"native", "/a.py build 10:12", "/a.py build 10:13"}));
}

TEST_F(RegionPythonTest, MakesInstructionsOfOneLineOneFrame) {
  Code("/a.py", "build", 10);
  Allocate(region_.Node(0, PythonWord(0, 1)));
  Allocate(region_.Node(0, PythonWord(0, 7)));
  EXPECT_EQ(Frames(), (std::vector<std::string>{"/a.py build 10:10"}));
}

TEST_F(RegionPythonTest, MakesEqualRecordsOneFunction) {
  Code("/a.py", "build", 10);
  Code("/a.py", "build", 10);
  Allocate(region_.Node(0, PythonWord(0, 1)));
  Allocate(region_.Node(0, PythonWord(1, 1)));
  EXPECT_EQ(Read().python.size(), 1u);
}

TEST_F(RegionPythonTest, CallsAFunctionWithoutARecordByAQuestionMark) {
  Allocate(region_.Node(0, PythonWord(0x7fffffff, 1)));
  EXPECT_EQ(Frames(), (std::vector<std::string>{" ? 0:0"}));
}

TEST_F(RegionPythonTest, ReadsNothingOutsideTheBytes) {
  PythonCodeRecord& code = Code("/a.py", "build", 10);
  code.file_offset = 0xfffffff0;
  code.file_bytes = 0x20;
  code.name_bytes = 0xffffffff;
  code.lines_offset = 1;
  code.lines_bytes = 0x80000000;
  code.lines = 77;
  code.first_line = -5;
  Allocate(region_.Node(0, PythonWord(0, -1)));
  EXPECT_EQ(Frames(), (std::vector<std::string>{" ? 0:0"}));
}

TEST_F(RegionPythonTest, DecodesOneTableOfManyRecordsOnlySoOften) {
  const std::string table(400 * 1024, '\x85');
  const uint32_t at = Text(table);
  uint32_t node = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    PythonCodeRecord& code = Code("", "f", 1);
    code.lines_offset = at;
    code.lines_bytes = static_cast<uint32_t>(table.size());
    code.lines = static_cast<uint32_t>(PythonLines::kLocations);
    node = region_.Node(0, PythonWord(i, 1));
  }
  Allocate(node);
  EXPECT_EQ(Frames().size(), 1u);
}

}  // namespace
}  // namespace memprof
