#include "core/inspect/slabs.h"

#include <gtest/gtest.h>

#include <random>

namespace memprof {
namespace {

TEST(Slabs, AreUnknownForGlibc) {
  EXPECT_EQ(Slabs("").Of(0x10010, 24), AddressRange());
  EXPECT_EQ(Slabs("libc.so.6").Of(0x10010, 24), AddressRange());
  EXPECT_EQ(Slabs("libother.so").Of(0x10010, 24), AddressRange());
}

// Block k of a slab finds its slab, whatever page the slab begins at. Sizes and slabs as the allocators
// were seen to lay blocks out.
void ExpectSlabs(const char* library, uint64_t page, uint64_t size, uint64_t class_size,
                 uint64_t slab) {
  const Slabs slabs(library);
  for (uint64_t first = 64; first < 96; ++first) {
    const uint64_t begin = first * page;
    for (uint64_t k = 0; k < slab / class_size; ++k) {
      ASSERT_EQ(slabs.Of(begin + k * class_size, size), (AddressRange{begin, begin + slab}))
          << library << " " << size << " " << k;
    }
  }
}

TEST(Slabs, OfJemalloc) {
  ExpectSlabs("libjemalloc.so.2", 4096, 1, 8, 4096);
  ExpectSlabs("libjemalloc.so.2", 4096, 9, 16, 4096);
  ExpectSlabs("libjemalloc.so.2", 4096, 40, 48, 12288);
  ExpectSlabs("libjemalloc.so.2", 4096, 100, 112, 28672);
  ExpectSlabs("libjemalloc.so.2", 4096, 128, 128, 4096);
  ExpectSlabs("libjemalloc.so.2", 4096, 129, 160, 20480);
  ExpectSlabs("libjemalloc.so.2", 4096, 200, 224, 28672);
  ExpectSlabs("libjemalloc.so.2", 4096, 1500, 1536, 12288);
  ExpectSlabs("libjemalloc.so.2", 4096, 9000, 10240, 20480);
  ExpectSlabs("libjemalloc.so.2", 4096, 14336, 14336, 28672);
  EXPECT_EQ(Slabs("libjemalloc.so.2").Of(0x10000, 14337), AddressRange());
}

TEST(Slabs, OfTcmalloc) {
  ExpectSlabs("libtcmalloc_minimal.so.4", 8192, 24, 32, 8192);
  ExpectSlabs("libtcmalloc_minimal.so.4", 8192, 40, 48, 8192);
  ExpectSlabs("libtcmalloc_minimal.so.4", 8192, 200, 208, 8192);
  ExpectSlabs("libtcmalloc_minimal.so.4", 8192, 1500, 1536, 16384);
  ExpectSlabs("libtcmalloc_minimal.so.4", 8192, 9000, 9216, 40960);
  ExpectSlabs("libtcmalloc_minimal.so.4", 8192, 14000, 16384, 16384);
  EXPECT_EQ(Slabs("libtcmalloc.so.4").Of(0x10000, 300000), AddressRange());
}

TEST(Slabs, OfMimallocAreAligned) {
  const Slabs slabs("libmimalloc.so.2.0");
  EXPECT_EQ(slabs.Of(0x12345670, 100), (AddressRange{0x12340000, 0x12350000}));
  EXPECT_EQ(slabs.Of(0x12345670, 20000), AddressRange());
}

// Aligned blocks are of a larger class than their size tells.
TEST(Slabs, AreNoneWhereNoBlockOfTheClassCanBe) {
  EXPECT_EQ(Slabs("libjemalloc.so.2").Of(0x10008, 40), AddressRange());
  EXPECT_EQ(Slabs("libtcmalloc.so.4").Of(0x10008, 40), AddressRange());
}

TEST(Slabs, HoldTheirBlocks) {
  std::mt19937_64 random(3);
  for (const char* library : {"libjemalloc.so", "libtcmalloc.so", "libmimalloc.so"}) {
    const Slabs slabs(library);
    for (int i = 0; i < 100'000; ++i) {
      const uint64_t address = (random() >> 17) / 8 * 8;
      const AddressRange slab = slabs.Of(address, random() % 300'000);
      if (slab == AddressRange()) continue;
      ASSERT_LE(slab.begin, address);
      ASSERT_LT(address, slab.end);
      ASSERT_EQ(slab.begin % 4096 + slab.end % 4096, 0u);
    }
  }
}

}  // namespace
}  // namespace memprof
