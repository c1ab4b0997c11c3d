#include "core/protocol/unsupervised.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

UnsupervisedOptions Read(const char* text) {
  UnsupervisedOptions options;
  const OptionsTrouble trouble = ReadUnsupervisedOptions(text, &options);
  EXPECT_EQ(trouble.why, nullptr) << text << ": " << trouble.why;
  return options;
}

// "WORD: why", or nothing.
std::string TroubleOf(const char* text) {
  UnsupervisedOptions options;
  const OptionsTrouble trouble = ReadUnsupervisedOptions(text, &options);
  if (trouble.why == nullptr) return "";
  return std::string(trouble.word, trouble.word_bytes) + ": " + trouble.why;
}

TEST(UnsupervisedOptions, AreTheDefaultsWithoutAText) {
  for (const char* text : {static_cast<const char*>(nullptr), ""}) {
    const UnsupervisedOptions options = Read(text);
    EXPECT_EQ(options.tracker.sample_bytes, 0u);
    EXPECT_EQ(options.tracker.temporary_threshold, 1u);
    EXPECT_EQ(options.tracker.mappings, 1u);
    EXPECT_TRUE(options.follow_fork);
    EXPECT_TRUE(options.command_line);
    EXPECT_EQ(options.max_files, kDefaultMaxFiles);
  }
}

TEST(UnsupervisedOptions, ReadsEachOfThem) {
  const UnsupervisedOptions options =
      Read("temporary=64,exact-peak,no-mmap,no-follow-fork,no-command-line,max-files=3");
  EXPECT_EQ(options.tracker.temporary_threshold, 64u);
  EXPECT_EQ(options.tracker.exact_peak, 1u);
  EXPECT_EQ(options.tracker.mappings, 0u);
  EXPECT_FALSE(options.follow_fork);
  EXPECT_FALSE(options.command_line);
  EXPECT_EQ(options.max_files, 3u);
}

TEST(UnsupervisedOptions, ReadsSizesWithUnits) {
  EXPECT_EQ(Read("sample=4096").tracker.sample_bytes, 4096u);
  EXPECT_EQ(Read("sample=512K").tracker.sample_bytes, 512u << 10);
  EXPECT_EQ(Read("sample=2M").tracker.sample_bytes, 2u << 20);
  EXPECT_EQ(Read("sample=1G").tracker.sample_bytes, 1u << 30);
  EXPECT_EQ(Read("sample=1K,sample=0").tracker.sample_bytes, 0u);
}

TEST(UnsupervisedOptions, NamesTheWordThatIsNoOption) {
  EXPECT_EQ(TroubleOf("exact-peak,samlpe=1"),
            "samlpe=1: takes no value, or is misspelt: drop the '=' or correct the name");
  EXPECT_EQ(TroubleOf("exactpeak"), "exactpeak: is no option");
  EXPECT_EQ(TroubleOf("exact-peak "), "exact-peak : is no option");
  EXPECT_EQ(TroubleOf("exact-peak=1"),
            "exact-peak=1: takes no value, or is misspelt: drop the '=' or correct the name");
  EXPECT_EQ(TroubleOf("no-mmap,"), ": is no option");
  EXPECT_EQ(TroubleOf(","), ": is no option");
}

TEST(UnsupervisedOptions, RefusesNumbersThatAreNone) {
  for (const char* text : {"sample", "sample=", "sample=K", "sample=-1", "sample=1k", "sample=1.5M",
                           "sample=2G", "sample=99999999999", "sample=9999999999G", "temporary=0",
                           "temporary=65", "temporary=1K", "max-files=0", "max-files=1001"}) {
    EXPECT_TRUE(TroubleOf(text).starts_with(std::string(text) + ": is no ")) << text;
  }
}

TEST(UnsupervisedOptions, RefusesWhatExcludesEachOther) {
  EXPECT_EQ(TroubleOf("sample=1K,temporary=2"),
            "temporary: above 1 needs every event, and sample leaves most out; give one");
}

}  // namespace
}  // namespace memprof
