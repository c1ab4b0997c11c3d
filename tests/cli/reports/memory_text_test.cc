#include "cli/reports/memory_text.h"

#include <gtest/gtest.h>

#include "tests/cli/reports/report_profile.h"

namespace memprof {
namespace {

AllocatorSample Asked(uint64_t time_ms, bool tells) {
  AllocatorSample asked;
  asked.provider = AllocatorProvider::kJemalloc;
  asked.time_ms = time_ms;
  if (tells) asked.allocated_bytes = 1000;
  return asked;
}

// One sample of 20 MiB at 100 ms; nobody could ask the allocator then.
Profile OneSample() {
  Profile profile = ReportProfile();
  MemorySample sample;
  sample.time_ms = 100;
  sample.rss_bytes = 20 << 20;
  sample.file_bytes = 20 << 20;
  sample.allocator = Asked(100, false);
  profile.memory.samples = {sample};
  profile.memory.last_said = sample.allocator;
  profile.program.rss_peak_bytes = sample.rss_bytes;
  return profile;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MemoryText, SaysThatRssWasHigherThanWhenItsPartsWereMeasured) {
  Profile profile = OneSample();
  EXPECT_FALSE(Has(MemoryText(profile, {}), "at its highest"));
  profile.program.rss_peak_bytes = 30 << 20;
  EXPECT_TRUE(Has(MemoryText(profile, {}), "RSS was 30.0 MiB at its highest"));
}

TEST(MemoryText, DoesNotSayThatTheAllocatorWasNotAskedBesideWhatItSaid) {
  Profile profile = OneSample();
  EXPECT_TRUE(Has(MemoryText(profile, {}), "jemalloc wasn't asked"));
  profile.memory.last_said = Asked(200, true);
  const std::string text = MemoryText(profile, {});
  EXPECT_FALSE(Has(text, "wasn't asked")) << text;
  EXPECT_TRUE(Has(text, "jemalloc said at 200 ms: 1000 B allocated")) << text;
}

}  // namespace
}  // namespace memprof
