#include "core/region/region_origin.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/once.h"
#include "core/protocol/region_layout.h"

namespace memprof {
namespace {

constexpr uint64_t kLongestText = 64 * 1024;

int64_t NowUnixMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// The words of a text, each with a 0 behind it.
std::vector<std::string> WordsOf(const RegionView& region) {
  const RegionOrigin& origin = region.header().origin;
  const uint64_t strings = region.count(Table::kStrings);
  const uint64_t bytes = origin.text_bytes.load(std::memory_order_acquire);
  const uint64_t at = Once(origin.text_offset);
  std::vector<std::string> words;
  if (at > strings || bytes > std::min(strings - at, kLongestText)) return words;
  const std::string text(region.Records<char>(Table::kStrings) + at, bytes);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::string TroubleOf(const RegionView& region) {
  const RegionOrigin& origin = region.header().origin;
  char trouble[sizeof origin.trouble];
  std::memcpy(trouble, origin.trouble, sizeof trouble);
  std::string text(trouble, strnlen(trouble, sizeof trouble));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

void TellOrigin(const RegionView& region, SnapshotProgram& program) {
  const RegionHeader& header = region.header();
  const RegionOrigin& origin = header.origin;
  if (origin.unsupervised.load(std::memory_order_relaxed) == 0) return;
  std::vector<std::string> words = WordsOf(region);
  if (!words.empty()) {
    program.program = std::move(words[0]);
    program.command.assign(words.begin() + 1, words.end());
  }
  program.pid = header.pid;
  program.run_id = origin.run_id;
  program.start_unix_ms = origin.start_unix_ms;
  if (program.end_kind == EndKind::kRunning) {
    const int64_t now = NowUnixMs(), start = program.start_unix_ms;
    // A start that was never written gives the largest difference.
    program.duration_ms =
        now > start ? static_cast<uint64_t>(now) - static_cast<uint64_t>(start) : 0;
    return;
  }
  const uint64_t ended = origin.ended_ns.load(std::memory_order_relaxed);
  const uint64_t started = header.started_ns;
  if (ended > started) program.duration_ms = (ended - started + 999999) / 1000000;
  const uint32_t status = origin.exit_status_plus_one.load(std::memory_order_relaxed);
  if (status != 0) {
    program.end_kind = EndKind::kExit;
    program.end_code = std::min(status - 1, 255u);
  }
}

}  // namespace memprof
