#include "cli/web/page.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/web/page_template.h"
#include "tests/cli/web/profile_builder.h"

namespace memprof {
namespace {

using Json = nlohmann::json;

Profile Small() {
  ProfileBuilder b("demo");
  b.Site({{"main", "m.cc", 1}, {"load", "l.cc", 2}}, {{100, 1}, {7, 1}, {1000, 9}});
  b.Site({{"main", "m.cc", 1}, {"serve", "s.cc", 3}}, {{23, 2}, {0, 0}, {50, 4}});
  return b.profile();
}

uint64_t ColumnSum(const Json& data, const std::string& column) {
  uint64_t sum = 0;
  for (const Json& value : data["own"][column]) sum += value.get<uint64_t>();
  return sum;
}

TEST(PageData, SumsToTheTotalsItStates) {
  const Profile profile = Small();
  const Json data = Json::parse(PageData(profile, {}));
  const std::map<std::string, Count> totals = {
      {"peak", profile.peak}, {"leaked", profile.leaked}, {"total", profile.total}};
  for (const auto& [mode, count] : totals) {
    EXPECT_EQ(ColumnSum(data, mode + "_bytes"), count.bytes);
    EXPECT_EQ(ColumnSum(data, mode + "_allocations"), count.allocations);
    EXPECT_EQ(data["totals"][mode], Json::array({count.bytes, count.allocations}));
  }
}

TEST(PageData, KeepsFiguresThatADoubleCanNotHold) {
  ProfileBuilder b("p");
  const uint64_t odd = (uint64_t{1} << 60) + 1;
  b.Site({{"main", "", 0}}, {.total = {odd, 1}});
  EXPECT_EQ(Json::parse(PageData(b.profile(), {}))["totals"]["total"][0].get<uint64_t>(), odd);
}

TEST(PageData, WritesEachTextOnce) {
  ProfileBuilder b("p");
  for (uint32_t line = 1; line < 50; ++line) {
    b.Site({{"main", "a_rather_long_file.cc", 1},
            {"f" + std::to_string(line), "a_rather_long_file.cc", line}},
           {.peak = {1, 1}});
  }
  const std::string data = PageData(b.profile(), {});
  EXPECT_EQ(data.find("a_rather_long_file.cc"), data.rfind("a_rather_long_file.cc"));
}

TEST(PageData, CanNotEndItsElement) {
  ProfileBuilder b("</script><script>alert(1)</script>");
  b.profile().program.command = {"<!--<script>", "\"quoted\"", "\xff\xfe"};
  b.profile().notes = {"<b>"};
  b.Site({{"f<int>(\"\xc3\x28\x01\")", "</SCRIPT>", 1, "<m>"}}, {.peak = {1, 1}});
  PageOptions options;
  options.capture = "<i>.memprof";
  options.warnings = {"<u>"};
  const std::string data = PageData(b.profile(), options);
  EXPECT_EQ(data.find('<'), std::string::npos);
  const Json parsed = Json::parse(data);
  EXPECT_EQ(parsed["program"]["program"], "</script><script>alert(1)</script>");
  EXPECT_EQ(parsed["program"]["command"][2], "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(parsed["strings"][1], "f<int>(\"\xef\xbf\xbd(\x01\")");
}

TEST(PageData, IsTheSameForTheSameProfile) {
  EXPECT_EQ(PageData(Small(), {}), PageData(Small(), {}));
}

TEST(PageData, TellsHowMuchOfTheLeakIsKeptByDesign) {
  ProfileBuilder b("p");
  b.Site({{"pool", "", 0}}, {.leaked = {72704, 1}, .runtime_reason = "emergency pool"});
  b.Site({{"main", "", 0}}, {.leaked = {5, 2}});
  const Json data = Json::parse(PageData(b.profile(), {}));
  EXPECT_EQ(data["kept_by_design"], Json::array({72704, 1}));
  EXPECT_EQ(data["totals"]["leaked"], Json::array({72709, 3}));
}

TEST(PageData, TellsTheThreadsOfItsRowsIfThereAreSeveral) {
  ProfileBuilder b("p");
  b.Site({{"main", "", 0}}, {.peak = {5, 2}});
  EXPECT_FALSE(Json::parse(PageData(b.profile(), {}))["own"].contains("thread"));
  b.Site({{"main", "", 0}}, {.peak = {7, 1}, .thread = "<worker>"});
  const Json data = Json::parse(PageData(b.profile(), {}));
  EXPECT_EQ(data["threads"], Json::array({"<worker>", "main"}));
  EXPECT_EQ(data["own"]["thread"], Json::array({0, 1}));
  EXPECT_EQ(data["own"]["peak_bytes"], Json::array({7, 5}));
}

TEST(PageData, StaysBelowItsLimitWhateverNamesTakeInJson) {
  ProfileBuilder b("p");
  for (uint32_t i = 0; i < 3000; ++i) {
    // Every character of these takes six bytes.
    b.Site({{"main", "", 0}, {std::to_string(i) + std::string(300, '<'), "", 0}}, {.peak = {1, 1}});
  }
  PageOptions options;
  options.max_data_bytes = 1'000'000;
  const std::string text = PageData(b.profile(), options);
  EXPECT_LE(text.size(), options.max_data_bytes);
  EXPECT_GT(text.size(), options.max_data_bytes / 2);
  const Json data = Json::parse(text);
  EXPECT_GT(data["pruned_nodes"], 0);
  EXPECT_EQ(ColumnSum(data, "peak_bytes"), 3000u);
}

TEST(PageData, NamesTheSignalThatEndedTheProgram) {
  Profile profile = Small();
  profile.program.end_kind = EndKind::kSignal;
  profile.program.end_code = 9;
  EXPECT_EQ(Json::parse(PageData(profile, {}))["program"]["end"]["signal"], "SIGKILL");
  profile.program.end_code = 999;
  EXPECT_EQ(Json::parse(PageData(profile, {}))["program"]["end"]["signal"], "signal");
}

TEST(Page, IsTheTemplateWithTheDataInside) {
  const Profile profile = Small();
  const std::string page = MakePage(profile, {});
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_EQ(page.find(kPageDataMarker), std::string::npos);
  EXPECT_NE(page.find(">" + PageData(profile, {}) + "</script>"), std::string::npos);
}

TEST(Page, HasAtMost300KilobytesBeforeData) { EXPECT_LE(PageTemplate().size(), 300u * 1024); }

TEST(Page, CarriesTheLicencesOfWhatItBundles) {
  const std::string page(PageTemplate());
  for (const char* part : {"d3-flame-graph 5.0.0", "Apache License", "d3-selection", "Mike Bostock",
                           "uplot 1.6.32", "Robert Penner"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(Page, RefersToNothingOutsideItself) {
  const std::string page(PageTemplate());
  for (const char* part : {" src=", "@import", "url(", "<link rel=\"stylesheet\"", "integrity="}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace memprof
