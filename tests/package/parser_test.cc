#include <memprof/gtest.h>

#include <cstdlib>

static void Parse(size_t bytes) {
  void* volatile text = std::malloc(bytes);
  std::free(text);
}

TEST(Parser, Within) {
  MEMPROF_LIMIT_PEAK(1000);
  Parse(1000);
}

TEST(Parser, Over) {
  MEMPROF_LIMIT_PEAK(1000);
  Parse(1500);
}
