#include "core/profile/profile.h"

#include <gtest/gtest.h>

#include "core/profile/location.h"

namespace memprof {
namespace {

// Resolves everything to "f<offset>"; offset 2 has "inner" inlined into it.
class FakeSymbolizer : public Symbolizer {
 public:
  std::vector<SourceChain> Resolve(std::span<const SnapshotModule>,
                                   std::span<const SnapshotFrame> frames) override {
    std::vector<SourceChain> chains;
    for (const SnapshotFrame& frame : frames) {
      SourceFrame outer = {"f" + std::to_string(frame.offset), "f.cc",
                           static_cast<uint32_t>(frame.offset), false};
      if (frame.offset == 2) {
        chains.push_back({{"innermost", "i.h", 7, true}, {"inner", "i.h", 8, true}, outer});
      } else if (frame.offset == 72) {
        chains.push_back({{"_IO_file_doallocate", "", 0, false}});
      } else {
        chains.push_back({outer});
      }
    }
    return chains;
  }
  const std::vector<std::string>& notes() const override { return notes_; }

  std::vector<std::string> notes_ = {"demo: no symbols"};
};

// f1 → f2 (with two inlined) → f3; a site at f2 and one at f3.
Snapshot Demo() {
  Snapshot snapshot;
  snapshot.program.program = "demo";
  snapshot.tracker.dropped_events = 3;
  snapshot.modules = {{"/bin/demo", "abcd"}, {"/lib/libc.so.6", ""}};
  snapshot.frames = {{0, 1}, {0, 2}, {0, 3}, {1, 72}};
  snapshot.nodes = {{}, {0, 0}, {1, 1}, {2, 2}, {1, 3}};
  snapshot.thread_names = {"main", "worker"};
  snapshot.sites = {{2, 0, {10, 1}, {1, 1}, {100, 2}},
                    {3, 1, {20, 2}, {2, 1}, {200, 4}},
                    {4, 0, {40, 4}, {4, 1}, {400, 8}}};
  return snapshot;
}

// Outermost first.
std::string Stack(const Profile& profile, uint32_t node) {
  std::string text;
  for (; node != 0; node = profile.nodes[node].parent) {
    text = profile.frames[profile.nodes[node].frame].function + " " + text;
  }
  return text;
}

TEST(Profile, MakesInlinedFunctionsFramesInsideTheirCaller) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(Demo(), symbolizer);
  EXPECT_EQ(Stack(profile, profile.sites[0].node), "f1 f2 inner innermost ");
  EXPECT_EQ(Stack(profile, profile.sites[1].node), "f1 f2 inner innermost f3 ");
  const ProfileFrame& leaf = profile.frames[profile.nodes[profile.sites[0].node].frame];
  EXPECT_EQ(leaf, (ProfileFrame{"innermost", "i.h", 7, 0, 2, true}));
}

TEST(Profile, KeepsEverySiteWithItsFiguresAndTheirSums) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(Demo(), symbolizer);
  ASSERT_EQ(profile.sites.size(), 3u);
  EXPECT_EQ(profile.sites[1].thread_name, 1u);
  EXPECT_EQ(profile.sites[1].peak, (Count{20, 2}));
  EXPECT_EQ(profile.sites[1].leaked, (Count{2, 1}));
  EXPECT_EQ(profile.sites[1].total, (Count{200, 4}));
  EXPECT_EQ(profile.peak, (Count{70, 7}));
  EXPECT_EQ(profile.leaked, (Count{7, 3}));
  EXPECT_EQ(profile.total, (Count{700, 14}));
}

TEST(Profile, HasParentsBeforeChildrenAndEqualFramesOnce) {
  FakeSymbolizer symbolizer;
  Snapshot snapshot = Demo();
  snapshot.nodes.push_back({2, 0});  // f1 again, called by f2
  snapshot.sites.push_back({5, 0, {1, 1}, {}, {1, 1}});
  const Profile profile = MakeProfile(snapshot, symbolizer);
  for (size_t i = 1; i < profile.nodes.size(); ++i) EXPECT_LT(profile.nodes[i].parent, i);
  for (size_t i = 0; i < profile.frames.size(); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_FALSE(profile.frames[i] == profile.frames[k]);
  }
  EXPECT_EQ(Stack(profile, profile.sites[3].node), "f1 f2 inner innermost f1 ");
}

TEST(Profile, MarksWhatTheRuntimeKeepsAndNothingElse) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(Demo(), symbolizer);
  EXPECT_EQ(profile.sites[0].runtime_reason, nullptr);
  EXPECT_EQ(profile.sites[1].runtime_reason, nullptr);
  EXPECT_NE(profile.sites[2].runtime_reason, nullptr);
}

TEST(Profile, CarriesWhatIsKnownOfTheRun) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(Demo(), symbolizer);
  EXPECT_EQ(profile.program, Demo().program);
  EXPECT_EQ(profile.tracker, Demo().tracker);
  EXPECT_EQ(profile.modules, Demo().modules);
  EXPECT_EQ(profile.thread_names, Demo().thread_names);
  EXPECT_EQ(profile.notes, symbolizer.notes_);
}

TEST(Profile, OfAnEmptySnapshotIsEmpty) {
  FakeSymbolizer symbolizer;
  Snapshot snapshot;
  snapshot.nodes = {{}};
  const Profile profile = MakeProfile(snapshot, symbolizer);
  EXPECT_EQ(profile.nodes.size(), 1u);
  EXPECT_EQ(profile.total, Count());
}

// Two sites below main of the interpreter: (Python) leak → interpreter → (Python) build →
// interpreter → an extension, and one of the interpreter's own.
Snapshot OfPython() {
  Snapshot s;
  s.modules = {{"/usr/bin/python3.11", ""}, {"/lib/extension.so", ""}};
  s.python = {{"/srv/a.py", "build", 5}, {"/srv/a.py", "leak", 7}};
  s.frames = {{0, 10}, {kNoModule, PythonOffset(1, 8)},
              {0, 11}, {kNoModule, PythonOffset(0, 6)},
              {0, 12}, {1, 13}};
  s.nodes = {{}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {1, 4}};
  s.thread_names = {"main"};
  s.sites = {{6, 0, {10, 1}, {1, 1}, {100, 2}}, {7, 0, {20, 2}, {2, 1}, {200, 4}}};
  return s;
}

TEST(Profile, LeavesTheInterpreterOutOfStacksWithPythonFrames) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(OfPython(), symbolizer);
  EXPECT_EQ(Stack(profile, profile.sites[0].node), "leak build f13 ");
  EXPECT_EQ(Stack(profile, profile.sites[1].node), "f10 f12 ");
}

TEST(Profile, HasTheInterpreterIfItIsAskedFor) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(OfPython(), symbolizer, {.native_frames = true});
  EXPECT_EQ(Stack(profile, profile.sites[0].node), "f10 leak f11 build f12 f13 ");
  const auto behind = [&](const std::string& name) {
    std::vector<bool> stands;
    for (const ProfileFrame& frame : profile.frames) {
      if (frame.function == name) stands.push_back(frame.stands_behind);
    }
    return stands;
  };
  EXPECT_EQ(behind("f11"), std::vector<bool>{true});
  EXPECT_EQ(behind("f13"), std::vector<bool>{false});
  EXPECT_EQ(behind("leak"), std::vector<bool>{false});
  // In the other stack nothing stands for it.
  EXPECT_EQ(behind("f12"), (std::vector<bool>{true, false}));
}

TEST(Profile, SaysWhatTheInterpreterMappedForSmallObjects) {
  FakeSymbolizer symbolizer;
  Snapshot snapshot = OfPython();
  constexpr uint64_t kArena = 1 << 20;
  const auto map = [&](uint32_t node, MappingKind kind, uint64_t bytes, uint64_t count) {
    SnapshotMapping row;
    row.node = node;
    row.kind = kind;
    row.peak = row.total = {count * bytes, count};
    row.leaked = {bytes, 1};
    snapshot.mappings.rows.push_back(row);
  };
  map(5, MappingKind::kAnonymous, kArena, 3);
  map(5, MappingKind::kAnonymous, 16384, 3);   // a stack of frames
  map(5, MappingKind::kFile, kArena, 3);       // no memory of its own
  map(6, MappingKind::kAnonymous, kArena, 3);  // an extension's
  const Profile profile = MakeProfile(snapshot, symbolizer);
  EXPECT_EQ(profile.python_arenas.peak, (Count{3 * kArena, 3}));
  EXPECT_EQ(profile.python_arenas.leaked, (Count{kArena, 1}));
}

TEST(Profile, HasTheSourceFileOfAPythonFunctionForItsModule) {
  FakeSymbolizer symbolizer;
  const Profile profile = MakeProfile(OfPython(), symbolizer);
  const ProfileNode& build = profile.nodes[profile.nodes[profile.sites[0].node].parent];
  const ProfileFrame& frame = profile.frames[build.frame];
  EXPECT_TRUE(frame.python);
  EXPECT_EQ(frame.file, "/srv/a.py");
  EXPECT_EQ(frame.line, 6u);
  EXPECT_EQ(profile.modules[frame.module].path, "/srv/a.py");
  EXPECT_STREQ(KindName(profile, frame), "python");
}

TEST(Profile, IsReportedByTheInnermostPythonFunction) {
  FakeSymbolizer symbolizer;
  Snapshot snapshot = OfPython();
  const Profile profile = MakeProfile(snapshot, symbolizer);
  const auto name = [](const Profile& of) {
    const uint32_t node = LocationOf(of, of.sites[0]);
    return of.frames[of.nodes[node].frame].function;
  };
  EXPECT_EQ(name(profile), "build");
  // An extension that is the program itself.
  snapshot.program.program = "extension.so";
  EXPECT_EQ(name(MakeProfile(snapshot, symbolizer)), "f13");
  snapshot.python = {{"<frozen importlib>", "load", 5}, {"/srv/a.py", "leak", 7}};
  snapshot.program.program = "python3.11";
  EXPECT_EQ(name(MakeProfile(snapshot, symbolizer)), "leak");
}

}  // namespace
}  // namespace memprof
