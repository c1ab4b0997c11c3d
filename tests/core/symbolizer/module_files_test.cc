// What the symbolizer says when debug info, symbols or the file itself are elsewhere or lacking.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/symbolizer.h"
#include "tests/core/symbolizer/inlined_calls_program.h"

namespace memprof {
namespace {

const SourceFrame kOutermost{"shop::Outermost(int)", SourcePath("inlined_calls.cc"),
                             LineOf("inlined_calls.cc", "outermost"), false};

struct Answer {
  SourceChain chain;
  std::vector<std::string> notes;
};

// By default of the call "inlined", which is in Outermost with two functions inlined.
class ModuleFiles : public testing::Test {
 protected:
  Answer Ask(const std::string& path, const std::string& build_id,
             const SymbolizerOptions& options = {}, const std::string& label = "inlined") {
    const std::vector<SnapshotModule> modules = {{path, build_id}};
    const std::vector<SnapshotFrame> frames = {{0, program_.Offset(label)}};
    const auto symbolizer = MakeSymbolizer(options);
    return {symbolizer->Resolve(modules, frames).at(0), symbolizer->notes()};
  }

  uint64_t Offset() const { return program_.Offset("inlined"); }
  std::string Unresolved(const std::string& name) const {
    return fmt::format("{}+{:#x}", name, Offset() - 1);
  }

  // A copy of the program without debug info.
  std::string Stripped(const std::string& how) {
    std::string copy = folder_ / "program";
    Shell(fmt::format("objcopy {} {} {}", how, program_.path(), copy));
    return copy;
  }

  InlinedCalls program_{"gcc_dwarf5"};
  Folder folder_;
};

TEST_F(ModuleFiles, WithoutDebugInfoGiveTheSymbolAndSaySo) {
  const Answer answer = Ask(Stripped("--strip-debug"), program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{"shop::Outermost(int)", "", 0, false}}));
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_TRUE(answer.notes[0].starts_with("program: no debug info")) << answer.notes[0];
}

TEST_F(ModuleFiles, WithoutDebugInfoGiveTheSymbolThatReachesFurthestUpToTheAddress) {
  const std::string program = Stripped("--strip-debug");
  const auto function = [&](const std::string& label) {
    return Ask(program, program_.build_id(), {}, label).chain.at(0).function;
  };
  EXPECT_EQ(function("plain"), "plain_c");
  EXPECT_EQ(function("assembly"), "InAssembly");
  EXPECT_EQ(function("unsized assembly"), "InUnsizedAssembly");
  EXPECT_EQ(function("anonymous"), "shop::(anonymous namespace)::Till::Count()");
  EXPECT_EQ(function("last"), "shop::LastInstruction()");
}

TEST_F(ModuleFiles, WithDamagedDebugInfoGiveSomethingForEachAddress) {
  std::ifstream file(program_.path(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  std::istringstream sections(Shell("LC_ALL=C readelf -SW " + program_.path()));
  std::mt19937 random(1);
  for (std::string line; std::getline(sections, line);) {
    std::istringstream words(line.substr(line.find(']') + 1));
    std::string name, type;
    size_t address = 0, offset = 0, size = 0;
    if (!(words >> name >> type >> std::hex >> address >> offset >> size)) continue;
    if (!name.starts_with(".debug")) continue;
    for (int round = 0; round < 20; ++round) {
      std::string damaged = whole;
      for (int i = 0; i < 10; ++i) damaged[offset + random() % size] = static_cast<char>(random());
      const std::string path = folder_ / "damaged";
      std::ofstream(path, std::ios::binary) << damaged;
      for (const char* label : {"inlined", "anonymous", "lambda", "in both files", "last"}) {
        const Answer answer = Ask(path, program_.build_id(), {}, label);
        ASSERT_FALSE(answer.chain.empty());
        EXPECT_FALSE(answer.chain[0].function.empty());
      }
    }
  }
}

TEST_F(ModuleFiles, WithoutSymbolsGiveTheModuleAndTheOffsetAndSaySo) {
  const Answer answer = Ask(Stripped("--strip-all"), program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{Unresolved("program"), "", 0, false}}));
  ASSERT_EQ(answer.notes.size(), 1u);
}

TEST_F(ModuleFiles, OfAnotherBuildAreNotGuessedAt) {
  std::string other = program_.build_id();
  other[0] = other[0] == '0' ? '1' : '0';
  for (const std::string& build_id : {other, std::string()}) {
    const Answer answer = Ask(program_.path(), build_id);
    EXPECT_EQ(answer.chain, (SourceChain{{Unresolved("inlined_calls_gcc_dwarf5"), "", 0, false}}));
    ASSERT_EQ(answer.notes.size(), 1u);
    EXPECT_NE(answer.notes[0].find("another build"), std::string::npos) << answer.notes[0];
  }
}

TEST_F(ModuleFiles, WithoutBuildIdResolveWhenTheRunSawNoneEither) {
  const std::string copy = Stripped("--remove-section=.note.gnu.build-id");
  ASSERT_EQ(BuildIdOf(copy), "");
  EXPECT_EQ(Ask(copy, "").chain.back(), kOutermost);
  EXPECT_EQ(Ask(copy, program_.build_id()).chain.front().function, Unresolved("program"));
}

TEST_F(ModuleFiles, ThatAreMissingOrNoProgramsGiveTheModuleAndTheOffset) {
  const std::string text = folder_ / "text";
  std::ofstream(text) << "no ELF file";
  std::ofstream(folder_ / "empty");
  for (const char* name : {"missing", "text", "empty"}) {
    const Answer answer = Ask(folder_ / name, program_.build_id());
    EXPECT_EQ(answer.chain, (SourceChain{{Unresolved(name), "", 0, false}}));
    ASSERT_EQ(answer.notes.size(), 1u);
    EXPECT_TRUE(answer.notes[0].starts_with(name)) << answer.notes[0];
  }
}

TEST_F(ModuleFiles, ThatTheKernelMadeAreNoLack) {
  const Answer answer = Ask("[vdso]", "");
  EXPECT_EQ(answer.chain, (SourceChain{{Unresolved("[vdso]"), "", 0, false}}));
  EXPECT_TRUE(answer.notes.empty());
}

TEST_F(ModuleFiles, HaveTheirDebugInfoByBuildId) {
  const std::string program = Stripped("--strip-all");
  const std::string& id = program_.build_id();
  const std::string directory = folder_ / "debug";
  const std::string debug = fmt::format("{}/.build-id/{}", directory, id.substr(0, 2));
  std::filesystem::create_directories(debug);
  Shell(fmt::format("objcopy --only-keep-debug {} {}/{}.debug", program_.path(), debug,
                    id.substr(2)));
  const Answer answer = Ask(program, id, {.debug_directories = {"/nowhere", directory}});
  EXPECT_EQ(answer.chain.size(), 3u);
  EXPECT_EQ(answer.chain.back(), kOutermost);
  EXPECT_TRUE(answer.notes.empty());
}

TEST_F(ModuleFiles, HaveTheirDebugInfoByDebugLink) {
  for (const char* place : {"", ".debug/"}) {
    const std::string debug = folder_ / place + std::string("linked.debug");
    std::filesystem::create_directories(std::filesystem::path(debug).parent_path());
    Shell(fmt::format("objcopy --only-keep-debug {} {}", program_.path(), debug));
    const Answer answer =
        Ask(Stripped("--strip-all --add-gnu-debuglink=" + debug), program_.build_id());
    EXPECT_EQ(answer.chain.size(), 3u);
    EXPECT_EQ(answer.chain.back(), kOutermost);
    EXPECT_TRUE(answer.notes.empty());
    std::filesystem::remove(debug);
  }
}

TEST_F(ModuleFiles, TakeNoDebugInfoOfAnotherBuild) {
  const InlinedCalls other("clang_dwarf4");
  const std::string debug = folder_ / "linked.debug";
  Shell(fmt::format("objcopy --only-keep-debug {} {}", other.path(), debug));
  const Answer answer =
      Ask(Stripped("--strip-all --add-gnu-debuglink=" + debug), program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{Unresolved("program"), "", 0, false}}));
  EXPECT_EQ(answer.notes.size(), 1u);
}

TEST_F(ModuleFiles, AreNotedOnceHoweverOftenTheyAreAsked) {
  const std::vector<SnapshotModule> modules = {{folder_ / "missing", ""}};
  const std::vector<SnapshotFrame> frames(3, SnapshotFrame{0, Offset()});
  const auto symbolizer = MakeSymbolizer();
  EXPECT_EQ(symbolizer->Resolve(modules, frames).size(), 3u);
  EXPECT_EQ(symbolizer->Resolve(modules, frames).size(), 3u);
  EXPECT_EQ(symbolizer->notes().size(), 1u);
}

TEST(Symbolizer, NamesTheRowsThatStandForNoAddress) {
  const std::vector<SnapshotFrame> frames = {{kNoModule, kPcTruncated},
                                             {kNoModule, kPcTablesFull},
                                             {kNoModule, kPcNoStack},
                                             {kNoModule, kPcIncomplete},
                                             {kNoModule, 0x7f0012345678}};
  std::vector<std::string> names;
  for (const SourceChain& chain : MakeSymbolizer()->Resolve({}, frames)) {
    ASSERT_EQ(chain.size(), 1u);
    names.push_back(chain[0].function);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"[truncated]", "[tables full]", "[no stack]",
                                             "[incomplete]", "0x7f0012345678"}));
}

}  // namespace
}  // namespace memprof
