#include "core/inspect/object_types.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/core/inspect/made_memory.h"

namespace memprof {
namespace {

constexpr uint64_t kModule = 0x10000;
constexpr uint64_t kModuleEnd = 0x20000;
constexpr uint64_t kHeap = 0x100000;

// A module with vtables, and blocks of 64 bytes whose cell is their site.
class Objects {
 public:
  uint64_t AddType(std::string_view name) {
    const uint64_t text = Take((name.size() + 8) / 8);
    for (size_t i = 0; i < name.size(); i += 8) {
      uint64_t word = 0;
      for (size_t k = 0; k < 8 && i + k < name.size(); ++k) {
        word |= uint64_t{static_cast<unsigned char>(name[i + k])} << 8 * k;
      }
      memory.Write(text + i, word);
    }
    const uint64_t information = Take(2);
    memory.Write(information, kModule + 64);  // of the library that has such information
    memory.Write(information + 8, text);
    const uint64_t table = Take(4);
    memory.Write(table + 8, information);
    return table + 16;
  }
  void AddBlock(uint32_t site, uint64_t first_word, uint64_t size = 64) {
    blocks.push_back({kHeap + 64 * blocks.size(), size, site});
    memory.Write(blocks.back().address, first_word);
  }
  std::vector<std::string> Find(uint32_t sites) const {
    return FindObjectTypes(memory, memory, {{kModule, kModuleEnd}}, blocks, sites,
                           [this](uint32_t block) { return blocks[block].cell; });
  }

  MadeMemory memory;
  std::vector<LiveBlock> blocks;

 private:
  uint64_t Take(uint64_t words) { return std::exchange(next_, next_ + 8 * words); }
  uint64_t next_ = kModule + 256;
};

TEST(ObjectTypes, AreNamedByTheirInformation) {
  Objects objects;
  const uint64_t session = objects.AddType("N2db7SessionE");
  const uint64_t page = objects.AddType("*4Page");
  for (int i = 0; i < 100; ++i) {
    objects.AddBlock(0, session);
    objects.AddBlock(1, page);
    objects.AddBlock(2, kHeap);
  }
  EXPECT_EQ(objects.Find(4), (std::vector<std::string>{"N2db7SessionE", "4Page", "", ""}));
}

TEST(ObjectTypes, AreThoseOfMostBlocks) {
  Objects objects;
  const uint64_t one = objects.AddType("3One");
  const uint64_t other = objects.AddType("5Other");
  for (int i = 0; i < 64; ++i) {
    objects.AddBlock(0, i % 2 != 0 ? one : other);
    objects.AddBlock(1, i == 7 ? other : one);
    objects.AddBlock(2, i < 16 ? one : 0);  // the first ones only
  }
  EXPECT_EQ(objects.Find(3), (std::vector<std::string>{"", "3One", ""}));
}

TEST(ObjectTypes, AreNoneWhereAnythingLiesElsewhere) {
  Objects objects;
  const uint64_t in_heap = kHeap + 0x10000;
  objects.memory.Write(in_heap - 8, in_heap + 64);
  objects.AddBlock(0, in_heap);  // the vtable
  const uint64_t table = objects.AddType("3One");
  objects.memory.Write(table - 8, in_heap);  // its information
  objects.AddBlock(1, table);
  const uint64_t nameless = objects.AddType("3Two");
  uint64_t information = 0;
  objects.memory.Read(nameless - 8, {reinterpret_cast<unsigned char*>(&information), 8});
  objects.memory.Write(information + 8, in_heap);  // its name
  objects.AddBlock(2, nameless);
  objects.AddBlock(3, objects.AddType("no name"));
  objects.AddBlock(4, objects.AddType(std::string(5000, 'x')));
  objects.AddBlock(5, objects.AddType("3Odd") + 1);
  objects.AddBlock(6, objects.AddType("4Tiny"), 4);
  objects.AddBlock(7, kModule);         // nothing lies before it
  objects.AddBlock(8, kModuleEnd - 8);  // zeros
  EXPECT_EQ(objects.Find(9), std::vector<std::string>(9));
}

// A name that goes on to the end of what is mapped.
TEST(ObjectTypes, HaveNamesThatEnd) {
  Objects objects;
  const uint64_t table = objects.AddType("3One");
  uint64_t information = 0;
  objects.memory.Read(table - 8, {reinterpret_cast<unsigned char*>(&information), 8});
  for (uint64_t at = kModuleEnd - 16; at < kModuleEnd; at += 8) {
    objects.memory.Write(at, 0x4141414141414141);
  }
  objects.memory.Write(information + 8, kModuleEnd - 16);
  objects.AddBlock(0, table);
  EXPECT_EQ(objects.Find(1), std::vector<std::string>(1));
}

}  // namespace
}  // namespace memprof
