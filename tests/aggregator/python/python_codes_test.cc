#include "aggregator/tables/python_codes.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/aggregator/python/fake_interpreter.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

class PythonCodesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(codes_.Start()); }

  uint32_t Enter(uintptr_t address) {
    CodeObject code;
    if (!OpenCode(python_.layout(), python_.memory(), FakeInterpreter::kCodeType, address, code)) {
      return PythonCodes::kNone;
    }
    return codes_.Enter(python_.layout(), python_.memory(), address, code);
  }
  const PythonCodeRecord& Record(uint32_t index) {
    return region_.get().Records<PythonCodeRecord>(Table::kPythonCodes)[index];
  }
  std::string Text(uint32_t offset, uint32_t bytes) {
    return {region_.get().Records<char>(Table::kPythonBytes) + offset, bytes};
  }

  TestRegion region_;
  FakeInterpreter python_{11};
  PythonCodes codes_{region_.get()};
};

TEST_F(PythonCodesTest, KeepsFileNameLinesAndFirstLine) {
  const uintptr_t code = python_.Code(python_.Text("/a.py"), python_.Text("C.f"), 7, "lines");
  const PythonCodeRecord& record = Record(Enter(code));
  EXPECT_EQ(Text(record.file_offset, record.file_bytes), "/a.py");
  EXPECT_EQ(Text(record.name_offset, record.name_bytes), "C.f");
  EXPECT_EQ(Text(record.lines_offset, record.lines_bytes), "lines");
  EXPECT_EQ(record.first_line, 7);
  EXPECT_EQ(record.filled, 1u);
}

TEST_F(PythonCodesTest, FindsWhatItEntered) {
  const uintptr_t code = python_.Code(python_.Text("/a.py"), python_.Text("f"), 7);
  EXPECT_EQ(codes_.Find(code), PythonCodes::kNone);
  const uint32_t record = Enter(code);
  EXPECT_EQ(codes_.Find(code), record);
}

TEST_F(PythonCodesTest, ForgetsCodeThatDies) {
  const uintptr_t code = python_.Code(python_.Text("/a.py"), python_.Text("f"), 7);
  EXPECT_FALSE(codes_.Forget(code));
  Enter(code);
  EXPECT_TRUE(codes_.Forget(code));
  EXPECT_EQ(codes_.Find(code), PythonCodes::kNone);
  EXPECT_FALSE(codes_.Forget(code));
}

TEST_F(PythonCodesTest, GivesEqualCodeOneRecord) {
  const uint32_t one = Enter(python_.Code(python_.Text("/a.py"), python_.Text("f"), 7));
  EXPECT_EQ(Enter(python_.Code(python_.Text("/a.py"), python_.Text("f"), 7)), one);
  EXPECT_NE(Enter(python_.Code(python_.Text("/a.py"), python_.Text("f"), 8)), one);
  EXPECT_NE(Enter(python_.Code(python_.Text("/a.py"), python_.Text("g"), 7)), one);
  EXPECT_NE(Enter(python_.Code(python_.Text("/b.py"), python_.Text("f"), 7)), one);
  EXPECT_NE(Enter(python_.Code(python_.Text("/a.py"), python_.Text("f"), 7, "ba")), one);
}

TEST_F(PythonCodesTest, TakesNewCodeAtAnOldAddressForNew) {
  const uintptr_t code = python_.Code(python_.Text("/a.py"), python_.Text("f"), 7);
  const uint32_t old = Enter(code);
  codes_.Forget(code);
  python_.Set(code + python_.layout().code_name, python_.Text("g"));
  EXPECT_NE(Enter(code), old);
  EXPECT_NE(codes_.Find(code), old);
}

TEST_F(PythonCodesTest, KeepsAFileOnce) {
  const uint32_t one = Enter(python_.Code(python_.Text("/a.py"), python_.Text("f"), 7));
  const uint32_t two = Enter(python_.Code(python_.Text("/a.py"), python_.Text("g"), 8));
  EXPECT_EQ(Record(one).file_offset, Record(two).file_offset);
}

TEST_F(PythonCodesTest, WritesWideTextAsUtf8) {
  const uintptr_t name = python_.Wide(U"aä€\U0001f40d\xd800");
  const PythonCodeRecord& record = Record(Enter(python_.Code(python_.Text("/a.py"), name, 7)));
  EXPECT_EQ(Text(record.name_offset, record.name_bytes), "aä€🐍?");
}

TEST_F(PythonCodesTest, RefusesWhatIsNoCode) {
  EXPECT_EQ(Enter(python_.New(400)), PythonCodes::kNone);
  EXPECT_EQ(Enter(0x7fff0000), PythonCodes::kNone);
  EXPECT_EQ(Enter(3), PythonCodes::kNone);
}

TEST_F(PythonCodesTest, LeavesOutTextThatCanNotBeRead) {
  const uintptr_t lying = python_.Text("f");
  python_.Set(lying + kStringLength, uint64_t{1} << 23);
  const uint32_t record = Enter(python_.Code(0x7fff0000, lying, 7));
  ASSERT_NE(record, PythonCodes::kNone);
  EXPECT_EQ(Record(record).file_bytes, 0u);
  EXPECT_LE(Record(record).name_bytes, kLongestPythonName);
}

TEST_F(PythonCodesTest, HasRoomForSoManyOnly) {
  const uint32_t room = region_.get().capacity(Table::kPythonCodes);
  const uintptr_t code = python_.Code(python_.Text("/a.py"), python_.Text("f"), 0);
  uint32_t entered = 0;
  for (uint32_t i = 0; i < room + 10; ++i) {
    python_.Set(code + python_.layout().code_first_line, static_cast<int32_t>(i));
    codes_.Forget(code);
    entered += Enter(code) != PythonCodes::kNone;
  }
  EXPECT_LE(entered, room);
  EXPECT_GT(entered, room / 2);
}

}  // namespace
}  // namespace memprof
