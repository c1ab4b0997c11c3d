#include "formats/export/exporters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/export/json_export.h"
#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

// Resolves every frame to "f<offset>", with one inlined function in the first.
class NamingSymbolizer : public Symbolizer {
 public:
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule>,
                                   std::span<const SnapshotFrame> frames) override {
    std::vector<SourceChain> chains;
    for (const SnapshotFrame& frame : frames) {
      const std::string name = "f" + std::to_string(frame.offset);
      SourceChain chain;
      if (frame.offset == 0x1500) chain.push_back({"inner;\"\xff", "inner.h", 7, true});
      chain.push_back({name, "main.cc", 12, false});
      chains.push_back(chain);
    }
    return chains;
  }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  std::vector<std::string> notes_ = {"a note"};
};

Profile SampleProfile(const Snapshot& snapshot = SampleSnapshot()) {
  NamingSymbolizer symbolizer;
  return MakeProfile(snapshot, symbolizer);
}

TEST(JsonExport, HasTheSettledNamesAndSumsToTheTotals) {
  const auto json = nlohmann::json::parse(ExportJson(SampleProfile(), {}));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["program"], "service");
  EXPECT_EQ(json["start"], "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(json["end"]["kind"], "exit");
  EXPECT_EQ(json["end"]["code"], 3);
  EXPECT_EQ(json["peak"]["time_ms"], 900);
  for (const char* figure : {"peak", "leaked", "total"}) {
    uint64_t bytes = 0;
    for (const auto& site : json["sites"]) bytes += site[figure]["bytes"].get<uint64_t>();
    EXPECT_EQ(bytes, json[figure]["bytes"]) << figure;
  }
  for (const char* name : {"bytes", "sites", "dropped_events", "truncated_stacks",
                           "peak_bound_bytes", "unattributed_bytes"}) {
    EXPECT_TRUE(json["tracker"].contains(name)) << name;
  }
}

TEST(JsonExport, HasEachStackOnceInATableThatSaysTheSame) {
  for (const Snapshot& snapshot : {SampleSnapshot(), DetailedSnapshot()}) {
    const Profile profile = SampleProfile(snapshot);
    const auto plain = nlohmann::json::parse(ExportJson(profile, {}));
    ExportOptions options;
    options.stack_table = true;
    auto json = nlohmann::json::parse(ExportJson(profile, options));
    EXPECT_TRUE(json["stacks"][0]["caller"].is_null());
    const auto with_frames = [&](nlohmann::json& row) {
      row["frames"] = nlohmann::json::array();
      for (nlohmann::json stack = row["stack"]; stack != 0;) {
        const auto& at = json["stacks"][stack.get<size_t>()];
        ASSERT_LT(at["caller"].get<size_t>(), stack.get<size_t>());
        row["frames"].push_back(json["frames"][at["frame"].get<size_t>()]);
        stack = at["caller"];
      }
      row.erase("stack");
    };
    for (auto& site : json["sites"]) with_frames(site);
    if (!json["mappings"].is_null()) {
      for (auto& row : json["mappings"]["rows"]) with_frames(row);
    }
    json.erase("frames");
    json.erase("stacks");
    EXPECT_FALSE(plain["sites"].empty());
    EXPECT_EQ(json, plain);
  }
}

TEST(JsonExport, HasTemporariesSizesAndKindsThatSumToTheTotals) {
  const auto json = nlohmann::json::parse(ExportJson(SampleProfile(DetailedSnapshot()), {}));
  EXPECT_EQ(json["temporary"],
            nlohmann::json::parse(R"({"bytes": 325, "allocations": 3, "threshold": 8})"));
  EXPECT_EQ(json["histogram"], nlohmann::json::parse(R"([
    {"min_bytes": 0, "max_bytes": 0, "allocations": 1, "bytes": 0},
    {"min_bytes": 64, "max_bytes": 127, "allocations": 3, "bytes": 300},
    {"min_bytes": 128, "max_bytes": 255, "allocations": 9, "bytes": 1250}])"));
  EXPECT_EQ(json["kinds"], nlohmann::json::parse(R"([
    {"kind": "malloc", "bytes": 300, "allocations": 3},
    {"kind": "new[]", "bytes": 1250, "allocations": 10}])"));
  EXPECT_EQ(json["sites"][0]["kind"], "malloc");
  EXPECT_EQ(json["sites"][0]["temporary"]["bytes"], 200);
  EXPECT_EQ(json["sites"][1]["histogram"].size(), 2u);
}

TEST(JsonExport, SaysWhatACaptureFromBeforeDoesNotKnow) {
  const auto json = nlohmann::json::parse(ExportJson(SampleProfile(), {}));
  EXPECT_TRUE(json["temporary"].is_null());
  EXPECT_EQ(json["histogram"], nlohmann::json::parse(R"([
    {"min_bytes": null, "max_bytes": null, "allocations": 13, "bytes": 1550}])"));
  EXPECT_EQ(json["kinds"], nlohmann::json::parse(R"([
    {"kind": "unknown", "bytes": 1550, "allocations": 13}])"));
  EXPECT_FALSE(json["sites"][0].contains("temporary"));
  EXPECT_FALSE(json["sites"][0].contains("histogram"));
}

TEST(JsonExport, GivesFramesInnermostFirstWithInlinedOnes) {
  const auto json = nlohmann::json::parse(ExportJson(SampleProfile(), {}));
  const auto& frames = json["sites"][0]["frames"];
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0]["inlined"], true);
  EXPECT_EQ(frames[0]["file"], "inner.h");
  EXPECT_EQ(frames[1]["function"], "f5376");
  EXPECT_EQ(frames[1]["offset"], 0x1500);
  EXPECT_EQ(frames[1]["build_id"], "0123456789abcdef");
  EXPECT_EQ(frames[3]["function"], "f1");
  EXPECT_EQ(frames[3]["module"], "");
}

TEST(JsonExport, ReplacesBytesThatAreNotUtf8) {
  const auto json = nlohmann::json::parse(ExportJson(SampleProfile(), {}));
  EXPECT_EQ(json["sites"][0]["frames"][0]["function"], "inner;\"\xef\xbf\xbd");
}

TEST(JsonExport, HasTheStandardErrorBesideEstimatesOnly) {
  const auto exact = ExportJson(SampleProfile(), {});
  EXPECT_EQ(exact.find("standard_error"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(exact)["tracker"]["sample_bytes"], 0);
  const Profile profile = SampleProfile(EstimatedSnapshot());
  const auto json = nlohmann::json::parse(ExportJson(profile, {}));
  EXPECT_EQ(json["tracker"]["sample_bytes"], 512);
  EXPECT_EQ(json["sites"][0]["sizes"], nlohmann::json::parse(R"({"from": 64, "to": 127})"));
  for (const char* figure : {"peak", "leaked", "total"}) {
    double squares = 0;
    for (const auto& site : json["sites"]) {
      squares += std::pow(site[figure]["standard_error"]["bytes"].get<double>(), 2);
    }
    EXPECT_NEAR(json[figure]["standard_error"]["bytes"].get<double>(), std::sqrt(squares), 2);
  }
}

TEST(StatsJson, HasNoSites) {
  EXPECT_FALSE(nlohmann::json::parse(StatsJson(SampleProfile())).contains("sites"));
}

TEST(FoldedExport, GivesAStackALineRootFirst) {
  EXPECT_EQ(ExportFolded(SampleProfile(), {}),
            "f1;f4112;f5376;inner:\"? 100\n"
            "f1;f4112;f8192 250\n");
  EXPECT_EQ(ExportFolded(SampleProfile(), {Figure::kLeaked}), "f1;f4112;f5376;inner:\"? 100\n");
}

TEST(FoldedExport, SaysOfEstimatesThatTheyAre) {
  const std::string text = ExportFolded(SampleProfile(EstimatedSnapshot()), {Figure::kLeaked});
  EXPECT_TRUE(text.starts_with("[estimates: sampled, one block per 512 B; the sum is ± ")) << text;
  EXPECT_TRUE(text.ends_with(" B];f1;f4112;f5376;inner:\"? 100\n")) << text;
}

TEST(CsvExport, GivesASiteALineAndQuotesWhatNeedsIt) {
  EXPECT_EQ(ExportCsv(SampleProfile(), {}),
            "function,file,line,module,thread,peak_bytes,peak_allocations,leaked_bytes,"
            "leaked_allocations,total_bytes,total_allocations,stack\r\n"
            "\"inner;\"\"?\",inner.h,7,/usr/bin/service,main,100,1,100,1,300,3,"
            "\"inner;\"\"? < f5376 < f4112 < f1\"\r\n"
            "f8192,main.cc,12,/lib/libc.so.6,io,250,2,0,0,1250,10,f8192 < f4112 < f1\r\n");
}

TEST(CsvExport, HasNoControlCharactersOfNames) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.thread_names.assign(snapshot.thread_names.size(), "\x1b[31mred\r\n\a\xc2\x9b");
  const std::string csv = ExportCsv(SampleProfile(snapshot), {});
  EXPECT_NE(csv.find("?[31mred???"), std::string::npos) << csv;
  for (const char c : csv) EXPECT_TRUE(c == '\r' || c == '\n' || (c >= ' ' && c <= '~')) << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), std::count(csv.begin(), csv.end(), '\r'));
}

TEST(CsvExport, HasErrorsOfEstimates) {
  Profile profile = SampleProfile();
  profile.tracker.sample_bytes = 1024;
  profile.sites[0].variances.leaked = {25, 4};
  const std::string text = ExportCsv(profile, {});
  EXPECT_NE(text.find(",leaked_bytes_standard_error,leaked_allocations_standard_error,"),
            std::string::npos);
  EXPECT_NE(text.find(",100,1,0,0,100,1,5,2,300,3,"), std::string::npos) << text;
}

TEST(SpeedscopeExport, HasAllFiguresRootFirstAndSumsToThem) {
  const Profile profile = SampleProfile();
  const auto json = nlohmann::json::parse(ExportSpeedscope(profile, {Figure::kLeaked}));
  EXPECT_EQ(json["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(json["activeProfileIndex"], 1);
  ASSERT_EQ(json["profiles"].size(), 3u);
  const uint64_t sums[] = {profile.peak.bytes, profile.leaked.bytes, profile.total.bytes};
  for (size_t i = 0; i < 3; ++i) {
    const auto& one = json["profiles"][i];
    EXPECT_EQ(one["type"], "sampled");
    EXPECT_EQ(one["unit"], "bytes");
    EXPECT_EQ(one["endValue"], sums[i]);
    ASSERT_EQ(one["samples"].size(), one["weights"].size());
    uint64_t sum = 0;
    for (const auto& weight : one["weights"]) sum += weight.get<uint64_t>();
    EXPECT_EQ(sum, sums[i]);
  }
  const auto& frames = json["shared"]["frames"];
  const auto& stack = json["profiles"][0]["samples"][0];
  ASSERT_EQ(stack.size(), 4u);
  EXPECT_EQ(frames[stack[0].get<size_t>()]["name"], "f1");
  EXPECT_EQ(frames[stack[3].get<size_t>()]["name"], "inner;\"\xef\xbf\xbd");
  EXPECT_EQ(frames[stack[3].get<size_t>()]["line"], 7);
}

TEST(PprofExport, IsOfTheSameBytesAndOfGzip) {
  const std::string once = ExportPprof(SampleProfile(), {});
  EXPECT_EQ(once, ExportPprof(SampleProfile(), {}));
  EXPECT_EQ(once.substr(0, 2), "\x1f\x8b");
  EXPECT_NE(once, ExportPprof(SampleProfile(), {Figure::kTotal}));
}

TEST(MassifExport, HasStartPeakAndEndWithTheirStacks) {
  const std::string text = ExportMassif(SampleProfile(), {});
  EXPECT_TRUE(
      text.starts_with("desc: made by memprof: the start, the peak and the end\n"
                       "cmd: ./service --fast\ntime_unit: ms\n#-----------\n"))
      << text;
  EXPECT_NE(text.find("snapshot=1\n#-----------\ntime=900\nmem_heap_B=350\nmem_heap_extra_B=0\n"
                      "mem_stacks_B=0\nheap_tree=peak\n"
                      "n2: 350 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
                      " n1: 250 0x2000: f8192 (main.cc:12)\n"
                      "  n1: 250 0x1010: f4112 (main.cc:12)\n"
                      "   n0: 250 0x1: f1 (main.cc:12)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("time=1500\nmem_heap_B=100\n"), std::string::npos);
}

TEST(MassifExport, HasALineForStacksThatEndWhereOthersGoOn) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.nodes.push_back({0, snapshot.nodes[4].frame});  // f8192 without a caller
  snapshot.sites.push_back({5, 0, {40, 1}, {}, {40, 1}});
  const std::string text = ExportMassif(SampleProfile(snapshot), {});
  EXPECT_NE(
      text.find(" n2: 290 0x2000: f8192 (main.cc:12)\n  n0: 40 [no caller]\n  n1: 250 0x1010"),
      std::string::npos)
      << text;
}

TEST(MassifExport, EndsNoLineInAName) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.program.command = {"a#b", "c\nd"};
  EXPECT_NE(ExportMassif(SampleProfile(snapshot), {}).find("\ncmd: a'b c d\n"), std::string::npos);
}

TEST(DhatExport, HasEachStackOnceAndSumsToTheTotals) {
  Snapshot snapshot = SampleSnapshot();
  SnapshotSite other_thread = snapshot.sites[0];
  other_thread.thread_name = 1;
  snapshot.sites.push_back(other_thread);
  const Profile profile = SampleProfile(snapshot);
  const auto json = nlohmann::json::parse(ExportDhat(profile, {}));
  EXPECT_EQ(json["dhatFileVersion"], 2);
  EXPECT_EQ(json["tg"], 900'000);
  EXPECT_EQ(json["te"], 1'500'000);
  ASSERT_EQ(json["pps"].size(), 2u);
  const std::pair<const char*, const Count*> figures[] = {
      {"g", &profile.peak}, {"e", &profile.leaked}, {"t", &profile.total}};
  for (const auto& [name, figure] : figures) {
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    for (const auto& point : json["pps"]) {
      bytes += point[name + std::string("b")].get<uint64_t>();
      blocks += point[name + std::string("bk")].get<uint64_t>();
      EXPECT_GE(point["mb"], point["gb"]);
      EXPECT_FALSE(point.contains("tl"));  // lifetimes aren't known
    }
    EXPECT_EQ((Count{bytes, blocks}), *figure) << name;
  }
  EXPECT_EQ(json["ftbl"][0], "[root]");
  const auto& stack = json["pps"][0]["fs"];
  EXPECT_EQ(json["ftbl"][stack[0].get<size_t>()], "0x1500: inner;\"\xef\xbf\xbd (inner.h:7)");
}

TEST(DhatAndMassif, SayOfEstimatesThatTheyAre) {
  const Profile profile = SampleProfile(EstimatedSnapshot());
  EXPECT_NE(ExportDhat(profile, {}).find("sampled, one block per 512 B"), std::string::npos);
  EXPECT_NE(ExportMassif(profile, {}).find("sampled, one block per 512 B"), std::string::npos);
}

TEST(Exporters, AreFoundByName) {
  for (const Exporter& exporter : Exporters()) EXPECT_EQ(FindExporter(exporter.name), &exporter);
  EXPECT_EQ(FindExporter("nothing"), nullptr);
}

}  // namespace
}  // namespace memprof
