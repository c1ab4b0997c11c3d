#include "cli/supervisor/images/resident_parts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace memprof {
namespace {

constexpr uint64_t kPage = 4096;

// Every second page of what is asked for.
uint64_t Half(int, uint64_t start, uint64_t end) { return (end - start) / 2; }

LiveRange Range(uint64_t start, uint64_t end, MappingKind kind = MappingKind::kAnonymous) {
  return {start, end, {.kind = kind}};
}

TEST(ParseSmaps, ReadsRangesNamesAndResidentBytes) {
  const auto mappings = ParseSmaps(
      "55d0-55d8 r-xp 00001000 08:01 42                     /usr/bin/a b\n"
      "Size:                  4 kB\nRss:                  12 kB\nPss:  1 kB\nVmFlags: rd ex\n"
      "7f00-7f80 ---p 00000000 00:00 0 \nRss: 0 kB\n"
      "7f80-7fff rw-p 00000000 00:00 0                      [stack]\nRss: 4 kB\n");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].start, 0x55d0u);
  EXPECT_EQ(mappings[0].end, 0x55d8u);
  EXPECT_EQ(mappings[0].name, "/usr/bin/a b");
  EXPECT_EQ(mappings[0].resident_bytes, 12u * 1024);
  EXPECT_EQ(mappings[1].name, "");
  EXPECT_EQ(mappings[1].permissions, "---p");
  EXPECT_EQ(mappings[2].name, "[stack]");
}

TEST(ParseSmaps, LivesWithWhatIsNoList) {
  EXPECT_TRUE(ParseSmaps("").empty());
  EXPECT_TRUE(ParseSmaps("Rss: 4 kB\n\n-\n--- ---\nnonsense").empty());
}

TEST(ResidentParts, PutsEachPageInOnePart) {
  const std::vector<KernelMapping> kernel = {
      {0x1000, 0x5000, 0x4000, "r-xp", "/bin/program"},
      {0x5000, 0x9000, 0x3000, "rw-p", "[heap]"},
      {0x10000, 0x20000, 0x8000, "rw-p", ""},       // all the program's
      {0x20000, 0x30000, 0x8000, "rw-p", ""},       // the lower half is the program's
      {0x40000, 0x42000, 0x2000, "r--s", "/data"},  // a file of the program's
      {0x50000, 0x51000, 0, "---p", ""},
      {0x51000, 0x61000, 0x5000, "rw-p", ""},  // behind a guard: a stack
      {0x70000, 0x80000, 0x6000, "rw-s", "/memfd:memprof-region (deleted)"},
      {0x80000, 0x90000, 0x1000, "r-xp", "/x/libmemprof_preload.so"},
      {0xa0000, 0xb0000, 0x2000, "rw-p", "[stack]"},
  };
  const std::vector<LiveRange> ranges = {Range(0x10000, 0x28000),
                                         Range(0x40000, 0x42000, MappingKind::kFile)};
  const MemorySample sample = ResidentParts(
      kernel, ranges, {0x1000 + 0x1000, "/memfd:memprof-region (deleted)"}, 1 << 20, -1, Half);
  EXPECT_EQ(sample.mapped_bytes, 0x8000u + 0x4000u);
  EXPECT_EQ(sample.mapped_file_bytes, 0x2000u);
  EXPECT_EQ(sample.file_bytes, 0x4000u);
  EXPECT_EQ(sample.stack_bytes, 0x5000u + 0x2000u);
  EXPECT_EQ(sample.tracker_bytes, 0x6000u + 0x1000u + 0x1000u);
  EXPECT_EQ(sample.anonymous_bytes, 0x3000u + 0x4000u - 0x1000u);
  EXPECT_EQ(sample.rss_bytes, sample.mapped_bytes + sample.mapped_file_bytes + sample.file_bytes +
                                  sample.stack_bytes + sample.tracker_bytes +
                                  sample.anonymous_bytes);
}

TEST(ResidentParts, TakesNoMoreForAStackThanItsLimit) {
  const std::vector<KernelMapping> kernel = {{0x50000, 0x51000, 0, "---p", ""},
                                             {0x51000, 0x61000, 0x5000, "rw-p", ""}};
  const MemorySample sample = ResidentParts(kernel, {}, {}, 0x2000, -1, Half);
  EXPECT_EQ(sample.stack_bytes, 0x1000u);
  EXPECT_EQ(sample.anonymous_bytes, 0x4000u);
}

TEST(ResidentParts, FindsAStackThatTheKernelHasMadeOneWithWhatLiesAbove) {
  const std::vector<KernelMapping> kernel = {{0x50000, 0x51000, 0, "---p", ""},
                                             {0x51000, 0x91000, 0x20000, "rw-p", ""}};
  const MemorySample sample =
      ResidentParts(kernel, {Range(0x59000, 0x61000)}, {}, 1 << 20, -1, Half);
  EXPECT_EQ(sample.stack_bytes, 0x4000u);
  EXPECT_EQ(sample.mapped_bytes, 0x4000u);
  EXPECT_EQ(sample.anonymous_bytes, 0x18000u);
}

TEST(ResidentByPagemap, CountsThePagesThatWereTouched) {
  const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) GTEST_SKIP() << "no pagemap here";
  auto* memory = static_cast<char*>(
      mmap(nullptr, 100 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(memory, 100 * kPage, MADV_NOHUGEPAGE);
  for (const size_t page : {1u, 5u, 6u, 90u}) memory[page * kPage] = 1;
  const auto start = reinterpret_cast<uint64_t>(memory);
  EXPECT_EQ(ResidentByPagemap(fd, start, start + 100 * kPage), 4 * kPage);
  EXPECT_EQ(ResidentByPagemap(fd, start + 5 * kPage, start + 7 * kPage), 2 * kPage);
  munmap(memory, 100 * kPage);
  close(fd);
}

}  // namespace
}  // namespace memprof
