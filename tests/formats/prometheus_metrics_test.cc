#include "formats/export/prometheus_metrics.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

std::string ValueOf(const std::string& text, const std::string& name) {
  std::smatch match;
  const std::regex line("(?:^|\n)" + name + "\\{[^\n]*\\} ([0-9.]+)\n");
  return std::regex_search(text, match, line) ? match[1].str() : "none";
}

TEST(MetricsText, HasTheFiguresOfARunningProgram) {
  Snapshot s = SampleSnapshot();
  s.program.end_kind = EndKind::kRunning;
  s.timeline = {4, {{0, 0, 7}, {4, 0, 4096}}};
  s.tracker.dropped_events = 3;
  s.program.start_unix_ms = 1'700'000'000'500;
  s.program.duration_ms = 12'034;
  const std::string text = MetricsText(s);
  EXPECT_EQ(ValueOf(text, "memprof_running"), "1");
  EXPECT_EQ(ValueOf(text, "memprof_heap_live_bytes"), "100");
  EXPECT_EQ(ValueOf(text, "memprof_heap_peak_bytes"), "350");
  EXPECT_EQ(ValueOf(text, "memprof_resident_bytes"), "4096");
  EXPECT_EQ(ValueOf(text, "memprof_allocations_total"), "13");
  EXPECT_EQ(ValueOf(text, "memprof_frees_total"), "12");
  EXPECT_EQ(ValueOf(text, "memprof_events_dropped_total"), "3");
  EXPECT_EQ(ValueOf(text, "memprof_tracker_bytes"), "200000");
  EXPECT_EQ(ValueOf(text, "memprof_duration_seconds"), "12.034");
  EXPECT_EQ(ValueOf(text, "memprof_written_timestamp_seconds"), "1700000012.534");
}

TEST(MetricsText, SaysThatAnEndedProgramHasNothingLive) {
  const std::string text = MetricsText(SampleSnapshot());
  EXPECT_EQ(ValueOf(text, "memprof_running"), "0");
  EXPECT_EQ(ValueOf(text, "memprof_heap_live_bytes"), "0");
  EXPECT_EQ(ValueOf(text, "memprof_resident_bytes"), "none");
}

// The grammar of the text format, as far as it is used here.
TEST(MetricsText, IsPrometheusTextWhateverTheProgramIsCalled) {
  for (const char* name : {"service", "a\"b\\c\nd", "f\xffr", ""}) {
    Snapshot s = SampleSnapshot();
    s.program.program = name;
    std::istringstream text(MetricsText(s));
    const std::regex sample(
        "([a-z_]+)\\{program=\"(?:[^\"\\\\]|\\\\[\"\\\\n])*\",pid=\"[0-9]+\"\\} "
        "[0-9]+(?:\\.[0-9]+)?");
    std::set<std::string> names;
    std::string help, type, value;
    while (std::getline(text, help)) {
      ASSERT_TRUE(std::getline(text, type) && std::getline(text, value));
      std::smatch match;
      ASSERT_TRUE(std::regex_match(value, match, sample)) << value;
      EXPECT_TRUE(names.insert(match[1]).second) << match[1];
      EXPECT_TRUE(help.starts_with("# HELP " + match[1].str() + " ")) << help;
      const bool counter = match[1].str().ends_with("_total");
      EXPECT_EQ(type, "# TYPE " + match[1].str() + (counter ? " counter" : " gauge"));
    }
    EXPECT_GE(names.size(), 10u);
  }
}

}  // namespace
}  // namespace memprof
