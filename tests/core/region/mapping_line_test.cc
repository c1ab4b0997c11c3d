#include "core/region/mapping_line.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

TEST(MappingLine, HasWhatTheKernelSays) {
  const auto mapping = ParseMappingLine(
      "7f12-7f34 r-xp 00001000 fe:01 4242                     /usr/lib/a b (deleted)");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->start, 0x7f12u);
  EXPECT_EQ(mapping->end, 0x7f34u);
  EXPECT_EQ(mapping->permissions, "r-xp");
  EXPECT_EQ(mapping->offset, 0x1000u);
  EXPECT_EQ(mapping->device, "fe:01");
  EXPECT_EQ(mapping->inode, 4242u);
  EXPECT_EQ(mapping->name, "/usr/lib/a b (deleted)");
}

TEST(MappingLine, HasNoNameWhereNoFileIsMapped) {
  for (const char* line : {"7f12-7f34 rw-p 00000000 00:00 0", "7f12-7f34 rw-p 00000000 00:00 0 "}) {
    const auto mapping = ParseMappingLine(line);
    ASSERT_TRUE(mapping) << line;
    EXPECT_EQ(mapping->name, "");
    EXPECT_EQ(mapping->inode, 0u);
  }
}

TEST(MappingLine, ReachesToTheEndOfTheAddresses) {
  const auto mapping =
      ParseMappingLine("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->end, 0xffffffffff601000u);
  EXPECT_EQ(mapping->name, "[vsyscall]");
}

TEST(MappingLine, IsNoOtherLine) {
  for (const char* line :
       {"", "-", "Rss:   4 kB", "Anonymous: 4 kB", "7f12", "7f12-", "7f12-7f34",
        "7f34-7f12 rw-p 00000000 00:00 0", "7f12-7f12 rw-p 00000000 00:00 0",
        "7f12-7f34 rw-p zero 00:00 0", "7f12-7f34 rw-p 00000000 00:00",
        "7f12-7f34 rw-p 00000000 00:00 0x /a", "7f12-7f34x rw-p 00000000 00:00 0",
        "1ffffffffffffffff-2ffffffffffffffff rw-p 00000000 00:00 0"}) {
    EXPECT_FALSE(ParseMappingLine(line)) << line;
  }
}

}  // namespace
}  // namespace memprof
