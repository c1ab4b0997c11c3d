#include "aggregator/tables/program_path.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace memprof {
namespace {

// The file mapped at an address according to that list.
std::string MappedAt(const std::string& list, unsigned long address, size_t room = 4096) {
  const int fd = memfd_create("maps", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, list.data(), list.size()), static_cast<ssize_t>(list.size()));
  lseek(fd, 0, SEEK_SET);
  std::string path(room, 0);
  path.resize(ReadMappedPath(fd, address, path.data(), path.size()));
  close(fd);
  return path;
}

TEST(ProgramPath, IsTheFileMappedThere) {
  const std::string list =
      "55d0c000-55d0e000 r-xp 00001000 fe:01 4242                       /usr/bin/a program\n"
      "55d0e000-55d10000 rw-p 00000000 00:00 0                          [heap]\n"
      "55d10000-55d11000 r--p 00000000 fe:01 4243                       " +
      std::string("/") + std::string(2000, 'x') + "\n";
  EXPECT_EQ(MappedAt(list, 0x55d0c000), "/usr/bin/a program");
  EXPECT_EQ(MappedAt(list, 0x55d0dfff), "/usr/bin/a program");
  EXPECT_EQ(MappedAt(list, 0x55d0e000), "");
  EXPECT_EQ(MappedAt(list, 0x55d10000).size(), 2001u);
  EXPECT_EQ(MappedAt(list, 0x55d10000, 2000), "");
  EXPECT_EQ(MappedAt(list, 0x55d11000), "");
  EXPECT_EQ(MappedAt("", 0), "");
  EXPECT_EQ(MappedAt("no list\n", 0), "");
}

TEST(ProgramPath, IsThisOne) {
  std::string path(4096, 0);
  path.resize(ReadProgramPath(path.data(), path.size()));
  EXPECT_EQ(path, std::filesystem::read_symlink("/proc/self/exe").string());
}

}  // namespace
}  // namespace memprof
