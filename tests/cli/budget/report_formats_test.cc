#include "cli/budget/report_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/budget/yardstick.h"

namespace memprof {
namespace {

constexpr TextStyle kWide = {100, false};

size_t LinesOf(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Hundreds of limits, all of them over, in stacks of names without end.
CheckReport HugeReport(const Yardstick& yardstick, size_t captures) {
  ProfileBuilder b("demo");
  for (uint32_t i = 0; i < 30; ++i) {
    std::vector<TestFrame> stack;
    for (int depth = 0; depth < 20; ++depth) {
      stack.push_back({std::string(3000, 'x') + std::to_string(i), "/src/x.cc", i + 1});
    }
    b.Site(stack, {{i + 1, 1}, {i + 1, 1}, {i + 1, 1}});
  }
  CheckReport report = ReportOn(yardstick, b.profile());
  report.captures.resize(captures, report.captures[0]);
  return report;
}

Yardstick& HugeYardstick() {
  std::string text = "[budget]\npeak = 0\n";
  for (int i = 0; i < 60; ++i) {
    text += "[[budget.match]]\nfunction = \"x*\"\nname = \"rule " + std::to_string(i) +
            "\"\npeak = 0\n";
  }
  return YardstickOf(text);
}

TEST(ReportFormats, AreBoundedHoweverMuchIsOver) {
  const Yardstick& yardstick = HugeYardstick();
  const CheckReport report = HugeReport(yardstick, 10);
  for (const size_t width : {size_t{40}, size_t{80}, size_t{200}}) {
    const std::string text = TextReport(report, {width, false});
    EXPECT_LE(LinesOf(text), 60u) << text;
    EXPECT_NE(text.find(" more over budget"), std::string::npos);
  }
  EXPECT_LT(MarkdownReport(report, kWide).size(), 256u * 1024);
  const std::string annotations = GithubReport(report, kWide);
  EXPECT_EQ(LinesOf(annotations), 10u);
  EXPECT_NE(annotations.find("::and 601 more over budget"), std::string::npos);
}

TEST(TextReport, NamesTheFunctionOnOneScreen) {
  const CheckReport report =
      ReportOn(YardstickOf("[budget]\npeak = 1500\nleaked = 9999\n"), ReportProfile());
  EXPECT_EQ(TextReport(report, {80, false}),
            "x.memprof (demo): over budget in 1 check, 1 within\n"
            "over  the program: peak 2.0 KiB, 500 B (33.3%) over the limit of 1.5 KiB\n"
            "      memprof.toml:2\n"
            "       bytes  share  function  place\n"
            "      1000 B  50.0%  Load      load.cc:20\n"
            "                       ← main\n"
            "       500 B  25.0%  Load      load.cc:21\n"
            "                       ← main\n"
            "       300 B  15.0%  main      main.cc:12\n"
            "       200 B  10.0%  [runtime, kept by design]\n"
            "ok    the program: leaked 700 B of at most 9.8 KiB\n"
            "note: 200 B more is kept by design by the runtime, which is no leak\n");
}

TEST(GithubReport, EscapesWhatTheRunnerWouldRead) {
  ProfileBuilder b("demo");
  b.Site({{"f%0A::error::(a, b)\n", "/odd,dir:x/a.cc", 7}}, {{10, 1}, {}, {}});
  const std::string text =
      GithubReport(ReportOn(YardstickOf("[budget]\npeak = 1"), b.profile()), kWide);
  EXPECT_EQ(LinesOf(text), 1u) << text;
  EXPECT_TRUE(
      text.starts_with("::error file=/odd%2Cdir%3Ax/a.cc,line=7,title=memprof%3A the "
                       "program%3A peak::the program: peak 10 B, 9 B (900.0%25) over"))
      << text;
  EXPECT_NE(text.find("f%250A::error::(a, b)?"), std::string::npos) << text;
}

TEST(GithubReport, PointsAtTheBudgetWhereNoSourceIsKnown) {
  ProfileBuilder b("demo");
  b.Site({{"f"}}, {{10, 1}, {}, {}});
  EXPECT_TRUE(GithubReport(ReportOn(YardstickOf("[budget]\n\npeak = 1"), b.profile()), kWide)
                  .starts_with("::error file=memprof.toml,line=3,"));
}

TEST(MarkdownReport, LeavesNoMarkdownInNames) {
  ProfileBuilder b("demo");
  b.Site({{"a|b```<script>"}}, {{10, 1}, {}, {}});
  const Yardstick yardstick = YardstickOf(
      "[[budget.match]]\nname = \"<b>|`x`\"\nfunction = \"*\"\npeak = 1\n[budget]\npeak = 99");
  const std::string text = MarkdownReport(ReportOn(yardstick, b.profile()), kWide);
  EXPECT_NE(text.find("## memprof: over budget\n"), std::string::npos);
  EXPECT_NE(text.find("| **over** | &lt;b\\>\\|\\`x\\`: peak | "), std::string::npos) << text;
  EXPECT_NE(text.find("a|b'''<script>"), std::string::npos) << text;
}

TEST(JsonReport, HasWhatThereIs) {
  Yardstick yardstick = YardstickOf("[budget]\npeak = \"+5%\"\nallocations = 66\npeak_rss = 1");
  yardstick.baselines = {ReportProfile()};
  Profile now = ReportProfile();
  now.sites[0].peak.bytes += 200;
  const auto json = nlohmann::json::parse(JsonReport(ReportOn(yardstick, now), kWide));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["status"], "over");
  EXPECT_EQ(json["baseline"], "before.memprof");
  const auto& checks = json["captures"][0]["checks"];
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0]["check"], "peak");
  EXPECT_EQ(checks[0]["status"], "over");
  EXPECT_EQ(checks[0]["value"], 2200);
  EXPECT_EQ(checks[0]["limit"], 2100);
  EXPECT_EQ(checks[0]["over_by"], 100);
  EXPECT_EQ(checks[0]["baseline"], 2000);
  EXPECT_EQ(checks[0]["stacks"][0]["function"], "Load");
  EXPECT_EQ(checks[0]["stacks"][0]["before"]["bytes"], 1000);
  EXPECT_EQ(checks[0]["stacks"][0]["now"]["bytes"], 1200);
  EXPECT_EQ(checks[1]["status"], "within");
  EXPECT_EQ(checks[2]["status"], "not judged");
  EXPECT_TRUE(checks[2]["value"].is_null());
}

TEST(GitlabReport, HasAnIssueForWhatIsOver) {
  const auto issues = nlohmann::json::parse(GitlabReport(
      ReportOn(YardstickOf("[budget]\npeak = 1\nallocations = 66"), ReportProfile()), kWide));
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0]["check_name"], "memprof-peak");
  EXPECT_EQ(issues[0]["severity"], "major");
  EXPECT_EQ(issues[0]["location"]["path"], "/src/demo/load.cc");
  EXPECT_EQ(issues[0]["location"]["lines"]["begin"], 20);
  EXPECT_EQ(issues[0]["fingerprint"].get<std::string>().size(), 32u);
}

TEST(ReportFormats, KeepControlCharactersFromTheTerminal) {
  ProfileBuilder b("d\x1b[2J");
  b.Site({{"f\x1b[31m\n", "x\x07.cc", 1}}, {{10, 1}, {}, {}});
  const CheckReport report = ReportOn(YardstickOf("[budget]\npeak = 1"), b.profile());
  for (const ReportFormat& format : ReportFormats()) {
    EXPECT_EQ(format.write(report, kWide).find_first_of("\x1b\x07"), std::string::npos)
        << format.name;
  }
}

}  // namespace
}  // namespace memprof
