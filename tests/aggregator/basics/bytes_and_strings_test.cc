// The tracker's own <cstring> beside libc's: it is included under other names.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#define memcmp own_memcmp
#define memchr own_memchr
#define bcmp own_bcmp
#define strlen own_strlen
#define strnlen own_strnlen
#define strcmp own_strcmp
#define strncmp own_strncmp
#define strchr own_strchr
#define strrchr own_strrchr
#define strstr own_strstr
#include "aggregator/basics/bytes_and_strings.cc"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef bcmp
#undef strlen
#undef strnlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr
#undef strstr

namespace memprof {
namespace {

int SignOf(int value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

// Short texts of few letters, so that many are equal; one letter is negative as a char.
std::string AnyText(std::mt19937& random) {
  std::string text(random() % 9, ' ');
  for (char& c : text) c = "ab\xff"[random() % 3];
  return text;
}

TEST(BytesAndStrings, CompareAndFindAsLibcDoes) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const std::string x = AnyText(random), y = AnyText(random);
    const char *a = x.c_str(), *b = y.c_str();
    const size_t most = random() % 10;
    const size_t both = std::min(x.size(), y.size());
    const int c = "ab\xff"[random() % 4];
    EXPECT_EQ(own_strlen(a), strlen(a));
    EXPECT_EQ(own_strnlen(a, most), strnlen(a, most));
    EXPECT_EQ(own_strcmp(a, b), SignOf(strcmp(a, b))) << x << ' ' << y;
    EXPECT_EQ(own_strncmp(a, b, most), SignOf(strncmp(a, b, most))) << x << ' ' << y;
    EXPECT_EQ(own_memcmp(a, b, both), SignOf(memcmp(a, b, both))) << x << ' ' << y;
    EXPECT_EQ(own_bcmp(a, b, both) == 0, memcmp(a, b, both) == 0);
    EXPECT_EQ(own_memchr(a, c, x.size()), memchr(a, c, x.size()));
    EXPECT_EQ(own_strchr(a, c), strchr(a, c));
    EXPECT_EQ(own_strrchr(a, c), strrchr(a, c));
    EXPECT_EQ(own_strstr(a, b), strstr(a, b)) << x << ' ' << y;
  }
}

TEST(BytesAndStrings, CopyAndFillAsLibcDoes) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    unsigned char a[64], b[64];
    for (unsigned char& byte : a) byte = static_cast<unsigned char>(random());
    memcpy(b, a, sizeof a);
    const size_t bytes = random() % 32;
    const size_t from = random() % 32, to = random() % 32;
    EXPECT_EQ(own_memmove(a + to, a + from, bytes), a + to);
    memmove(b + to, b + from, bytes);
    ASSERT_EQ(memcmp(a, b, sizeof a), 0) << bytes << ' ' << from << ' ' << to;
    const size_t apart = bytes < 16 ? bytes : 16;
    EXPECT_EQ(own_memcpy(a + 40, a + from % 16, apart), a + 40);
    memcpy(b + 40, b + from % 16, apart);
    ASSERT_EQ(memcmp(a, b, sizeof a), 0);
    EXPECT_EQ(own_memset(a + to, static_cast<int>(random.max() >> 3), bytes), a + to);
    memset(b + to, static_cast<int>(random.max() >> 3), bytes);
    ASSERT_EQ(memcmp(a, b, sizeof a), 0);
  }
}

}  // namespace
}  // namespace memprof
