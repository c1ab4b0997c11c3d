#include "aggregator/python/interpreter_layout.h"

#include <gtest/gtest.h>

#include "tests/aggregator/python/fake_interpreter.h"

namespace memprof {
namespace {

PythonState StateOf(const uint64_t (&words)[kPublishedWords]) {
  InterpreterLayout layout;
  return PublishedLayout(words, layout);
}

TEST(InterpreterLayout, IsInTheTableUpTo312) {
  InterpreterLayout layout;
  for (uint32_t minor = 0; minor < 20; ++minor) {
    EXPECT_EQ(KnownLayout(minor, layout), minor >= 8 && minor <= 12) << minor;
  }
}

TEST(InterpreterLayout, IsPublishedFrom313) {
  for (const uint32_t minor : {13u, 14u, 15u}) {
    uint64_t words[kPublishedWords] = {};
    FakeInterpreter::Publish(minor, words);
    EXPECT_EQ(StateOf(words), PythonState::kFrames);
  }
}

TEST(InterpreterLayout, IsUnknownIfAnOffsetIsAnother) {
  for (const uint32_t at : {23u, 29u, 31u, 33u, 35u, 38u, 43u, 68u, 70u}) {
    uint64_t words[kPublishedWords] = {};
    FakeInterpreter::Publish(13, words);
    words[at] += 8;
    EXPECT_EQ(StateOf(words), PythonState::kUnknownVersion) << at;
  }
}

TEST(InterpreterLayout, IsUnknownOfALaterVersion) {
  uint64_t words[kPublishedWords] = {};
  FakeInterpreter::Publish(15, words);
  words[1] = uint64_t{3} << 24 | uint64_t{16} << 16;
  EXPECT_EQ(StateOf(words), PythonState::kUnknownVersion);
}

TEST(InterpreterLayout, IsUnknownWithoutTheCookie) {
  uint64_t words[kPublishedWords] = {};
  EXPECT_EQ(StateOf(words), PythonState::kUnknownVersion);
}

TEST(InterpreterLayout, ToldApartFromAFreeThreadedBuild) {
  uint64_t words[kPublishedWords] = {};
  FakeInterpreter::Publish(13, words);
  words[2] = 1;
  EXPECT_EQ(StateOf(words), PythonState::kFreeThreaded);
}

}  // namespace
}  // namespace memprof
