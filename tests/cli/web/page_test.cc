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

TEST(PageData, SaysWhatIsOfThreadsThatStillRan) {
  Profile profile = Small();
  EXPECT_FALSE(Json::parse(PageData(profile, {})).contains("running"));
  profile.sites[0].of_running_threads = true;
  const Json data = Json::parse(PageData(profile, {}));
  EXPECT_EQ(data["running"]["bytes"], Json::array({7}));
  EXPECT_EQ(data["running"]["allocations"], Json::array({1}));
  const size_t node = data["running"]["node"][0];
  EXPECT_EQ(
      data["strings"]
          [data["frames"]["function"][data["nodes"]["frame"][node].get<size_t>()].get<size_t>()],
      "load");
  EXPECT_EQ(data["of_running_threads"], Json::array({7, 1}));
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

TEST(PageData, HasTheFiguresOfFunctionsThatItsTreeLacks) {
  ProfileBuilder b("p");
  for (uint32_t i = 0; i < 3000; ++i) {
    // Each of these stacks is small, but together they are most of what `node` holds.
    b.Site({{"main", "", 0}, {"f" + std::to_string(i), "", 0}, {"node", "", 0}},
           {.peak = {100, 1}});
  }
  b.Site({{"main", "", 0}, {"node", "", 0}}, {.peak = {1000, 1}});
  PageOptions options;
  options.limits.max_nodes = 200;
  const Json data = Json::parse(PageData(b.profile(), options));
  EXPECT_GT(data["pruned_nodes"], 5000);
  const Json& functions = data["functions"];
  uint64_t of_node = 0, all = 0;
  for (size_t i = 0; i < functions["self"]["of"].size(); ++i) {
    const uint64_t bytes = functions["self"]["peak_bytes"][i];
    all += bytes;
    const size_t function = functions["self"]["of"][i];
    if (data["strings"][functions["function"][function].get<size_t>()] == "node") of_node += bytes;
  }
  EXPECT_EQ(of_node, 301'000u);
  EXPECT_EQ(all, 301'000u);
}

TEST(PageData, TellsWhatWasMappedAndWhereTheRssWas) {
  Profile profile = Small();
  const Json without = Json::parse(PageData(profile, {}));
  EXPECT_FALSE(without.contains("mapped"));
  EXPECT_FALSE(without.contains("rss"));
  profile.mappings.followed = true;
  SnapshotMapping arenas;
  arenas.peak = {4096, 2};
  arenas.leaked = {1024, 1};
  arenas.total = {8192, 4};
  profile.mappings.rows = {arenas};
  MemorySample low, high;
  low.rss_bytes = 10;
  high.time_ms = 70;
  high.rss_bytes = 1000;
  high.anonymous_bytes = 400;
  high.live_bytes = 450;  // 50 of them aren't resident
  high.mapped_bytes = 600;
  profile.memory.samples = {low, high};
  const Json data = Json::parse(PageData(profile, {}));
  EXPECT_EQ(data["mapped"], (Json{{"peak", {4096, 2}}, {"end", {1024, 1}}}));
  EXPECT_EQ(data["rss"]["time_ms"], 70);
  int64_t sum = 0;
  std::map<std::string, int64_t> parts;
  for (const Json& part : data["rss"]["parts"]) {
    parts[part["name"]] = part["bytes"];
    sum += part["bytes"].get<int64_t>();
  }
  EXPECT_EQ(sum, 1000);
  const std::map<std::string, int64_t> expected = {
      {"live", 450}, {"not_resident", -50}, {"mapped", 600}};
  EXPECT_EQ(parts, expected);
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
