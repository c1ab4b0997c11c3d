// The symbolizer's answers when debug info, symbols or the file itself are elsewhere or missing.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/symbolizer/symbolizer.h"
#include "tests/core/symbolizer/inlined_calls_program.h"

namespace memprof {
namespace {

const SourceFrame kOutermost{"shop::Outermost(int)", SourcePath("inlined_calls.cc"),
                             LineOf("inlined_calls.cc", "outermost"), false};

struct Answer {
  SourceChain chain;
  std::vector<std::string> notes;
};

// By default the call "inlined", which is in Outermost with two functions inlined.
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

  // Copies of the file in which some bytes of the sections named so are others.
  void ExpectSomethingOfDamaged(const std::string& program, const std::string& prefix) {
    std::ifstream file(program, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    std::istringstream sections(Shell("LC_ALL=C readelf -SW " + program));
    std::mt19937 random(1);
    size_t copies = 0;
    for (std::string line; std::getline(sections, line);) {
      std::istringstream words(line.substr(line.find(']') + 1));
      std::string name, type;
      size_t address = 0, offset = 0, size = 0;
      if (!(words >> name >> type >> std::hex >> address >> offset >> size)) continue;
      if (!name.starts_with(prefix)) continue;
      for (int round = 0; round < 20; ++round, ++copies) {
        std::string damaged = whole;
        for (int i = 0; i < 10; ++i)
          damaged[offset + random() % size] = static_cast<char>(random());
        const std::string path = folder_ / "damaged";
        std::ofstream(path, std::ios::binary) << damaged;
        for (const char* label : {"inlined", "anonymous", "lambda", "in both files", "last"}) {
          const Answer answer = Ask(path, program_.build_id(), {}, label);
          ASSERT_FALSE(answer.chain.empty());
          EXPECT_FALSE(answer.chain[0].function.empty());
        }
      }
    }
    EXPECT_GE(copies, 40u);
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

TEST_F(ModuleFiles, ThatAreNoRegularFilesAreNotOpened) {
  const std::string fifo = folder_ / "program";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);  // would wait for a writer
  for (const std::string& path : {fifo, std::string("/dev/zero"), std::string("/")}) {
    const Answer answer = Ask(path, program_.build_id());
    ASSERT_EQ(answer.notes.size(), 1u) << path;
    EXPECT_NE(answer.notes[0].find("the file is not here"), std::string::npos) << answer.notes[0];
  }
}

TEST_F(ModuleFiles, AreNotReadWhereTheyAreNotToBe) {
  SymbolizerOptions options;
  options.reads_files = false;
  const Answer answer = Ask(program_.path(), program_.build_id(), options);
  const std::string name = std::filesystem::path(program_.path()).filename();
  EXPECT_EQ(answer.chain, (SourceChain{{Unresolved(name), "", 0, false}}));
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_NE(answer.notes[0].find("--no-binaries"), std::string::npos) << answer.notes[0];
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
  ExpectSomethingOfDamaged(program_.path(), ".debug");
}

// They give the starts of functions without a symbol.
TEST_F(ModuleFiles, WithDamagedUnwindTablesGiveSomethingForEachAddress) {
  ExpectSomethingOfDamaged(Stripped("--strip-all"), ".eh_frame");
}

TEST_F(ModuleFiles, WithoutSymbolsGiveTheModuleAndTheFunctionsStartAndSaySo) {
  const std::string program = Stripped("--strip-all");
  const std::string start = Shell(
      fmt::format("nm -C {} | sed -n 's/^0*\\([0-9a-f]*\\) . shop::Outermost(int)$/\\1/p' | tr -d "
                  "'\\n'",
                  program_.path()));
  ASSERT_NE("program+0x" + start, Unresolved("program"));
  const Answer answer = Ask(program, program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{"program+0x" + start, "", 0, false}}));
  ASSERT_EQ(answer.notes.size(), 1u);
}

TEST_F(ModuleFiles, WithoutSymbolsAndUnwindTablesGiveTheModuleAndTheOffset) {
  const std::string how = "--strip-all --remove-section=.eh_frame_hdr";
  const Answer answer = Ask(Stripped(how), program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{Unresolved("program"), "", 0, false}}));
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
  SymbolizerOptions options;
  options.debug_directories = {"/nowhere", directory};
  const Answer answer = Ask(program, id, options);
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

TEST_F(ModuleFiles, ThatAreGoneOrReplacedAreNamedByTheirDebugInfo) {
  const std::string& id = program_.build_id();
  const std::string debug = fmt::format("{}/.build-id/{}", folder_ / "debug", id.substr(0, 2));
  std::filesystem::create_directories(debug);
  Shell(fmt::format("objcopy --only-keep-debug {} {}/{}.debug", program_.path(), debug,
                    id.substr(2)));
  SymbolizerOptions options;
  options.debug_directories = {folder_ / "debug"};
  for (const std::string& path : {folder_ / "gone", InlinedCalls("clang_dwarf4").path()}) {
    const Answer answer = Ask(path, id, options);
    EXPECT_EQ(answer.chain.size(), 3u);
    EXPECT_EQ(answer.chain.back(), kOutermost);
    EXPECT_TRUE(answer.notes.empty());
  }
  // Debug info of another build does not do.
  std::string other = id;
  other.back() = other.back() == '0' ? '1' : '0';
  std::filesystem::copy_file(fmt::format("{}/{}.debug", debug, id.substr(2)),
                             fmt::format("{}/{}.debug", debug, other.substr(2)));
  EXPECT_EQ(Ask(folder_ / "gone", other, options).chain.front().function, Unresolved("gone"));
}

TEST_F(ModuleFiles, HaveSymbolsOfTheirOwnInGnuDebugdata) {
  const std::string mini = folder_ / "mini";
  Shell(fmt::format("objcopy --strip-debug --remove-section=.comment {0} {1} && xz -f -k {1}",
                    program_.path(), mini));
  const Answer answer = Ask(Stripped("--strip-all --add-section=.gnu_debugdata=" + mini + ".xz"),
                            program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{"shop::Outermost(int)", "", 0, false}}));
  EXPECT_EQ(answer.notes.size(), 1u);
}

TEST_F(ModuleFiles, NeedNoDebugAranges) {
  ASSERT_NE(Shell("readelf -SW " + program_.path()).find(".debug_aranges"), std::string::npos);
  const Answer answer = Ask(Stripped("--remove-section=.debug_aranges"), program_.build_id());
  EXPECT_EQ(answer.chain.size(), 3u);
  EXPECT_EQ(answer.chain.back(), kOutermost);
  EXPECT_TRUE(answer.notes.empty());
}

TEST_F(ModuleFiles, HaveTheirDebugInfoInCompressedSections) {
  for (const char* how : {"zlib-gabi", "zlib-gnu"}) {
    const Answer answer =
        Ask(Stripped(fmt::format("--compress-debug-sections={}", how)), program_.build_id());
    EXPECT_EQ(answer.chain.size(), 3u) << how;
    EXPECT_EQ(answer.chain.back(), kOutermost) << how;
    EXPECT_TRUE(answer.notes.empty());
  }
}

TEST_F(ModuleFiles, CompressedInAWayThatIsNotReadGiveTheSymbolAndSayWhatToRun) {
  const std::string program = Stripped("--compress-debug-sections=zstd");
  ASSERT_NE(Shell("readelf -tW " + program).find("ZSTD"), std::string::npos);
  const Answer answer = Ask(program, program_.build_id());
  EXPECT_EQ(answer.chain, (SourceChain{{"shop::Outermost(int)", "", 0, false}}));
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_TRUE(answer.notes[0].ends_with("run objcopy --decompress-debug-sections " + program))
      << answer.notes[0];
  Shell("objcopy --decompress-debug-sections " + program);
  EXPECT_EQ(Ask(program, program_.build_id()).chain.back(), kOutermost);
}

// elfutils would read beyond the table's end.
TEST_F(ModuleFiles, WhoseTableOfNamesEndsWithinANameGiveTheSymbolAndSaySo) {
  const std::string names = folder_ / "names";
  for (const char* section : {".debug_str", ".debug_line_str"}) {
    const std::string program = Stripped("");
    Shell(
        fmt::format("objcopy --dump-section {0}={1} {2} && truncate -s -1 {1} && "
                    "objcopy --update-section {0}={1} {2}",
                    section, names, program));
    const Answer answer = Ask(program, program_.build_id());
    EXPECT_EQ(answer.chain, (SourceChain{{"shop::Outermost(int)", "", 0, false}})) << section;
    ASSERT_EQ(answer.notes.size(), 1u);
    EXPECT_NE(answer.notes[0].find("is damaged (it ends within a name)"), std::string::npos)
        << answer.notes[0];
  }
}

// A split program built in the folder, whose .dwo files can be taken away.
class SplitFiles : public ModuleFiles,
                   public testing::WithParamInterface<std::pair<const char*, const char*>> {
 protected:
  SplitFiles() {
    const auto [compiler, version] = GetParam();
    Shell(fmt::format(
        "cd {0} && {1} {2} -gsplit-dwarf -g -O1 -c {3}/../../programs/exits.c -o exits.o && "
        "{1} -Wl,--build-id exits.o -o exits",
        folder_ / ".", compiler, version, INLINED_CALLS_SOURCES));
    path_ = folder_ / "exits";
  }
  Answer AskOfMain() {
    std::istringstream line(Shell("nm " + path_ + " | grep ' T main$'"));
    uint64_t address = 0;
    line >> std::hex >> address;
    const std::vector<SnapshotModule> modules = {{path_, BuildIdOf(path_)}};
    const std::vector<SnapshotFrame> frames = {{0, address + 5}};
    const auto symbolizer = MakeSymbolizer();
    return {symbolizer->Resolve(modules, frames).at(0), symbolizer->notes()};
  }
  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Compilers, SplitFiles,
                         testing::Values(std::pair{"gcc", "-gdwarf-5"},
                                         std::pair{"gcc", "-gdwarf-4"},
                                         std::pair{"clang", "-gdwarf-5"}),
                         [](const auto& build) {
                           const std::string option = build.param.second;
                           return std::string(build.param.first) + "_dwarf" + option.back();
                         });

TEST_P(SplitFiles, WithTheirDwoLackNothing) {
  const Answer answer = AskOfMain();
  EXPECT_EQ(answer.chain.front().function, "main");
  EXPECT_NE(answer.chain.front().line, 0u);
  EXPECT_TRUE(answer.notes.empty()) << answer.notes.front();
}

TEST_P(SplitFiles, WithoutTheirDwoHaveLinesAndSayWhichFileIsGone) {
  Shell("rm " + folder_ / "*.dwo");
  const Answer answer = AskOfMain();
  EXPECT_EQ(answer.chain.front().function, "main");
  EXPECT_NE(answer.chain.front().line, 0u);
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_NE(answer.notes[0].find("put " + folder_ / "exits.dwo back"), std::string::npos)
      << answer.notes[0];
}

TEST_P(SplitFiles, InADwpHaveLinesAndSayWhatIsNotRead) {
  Shell("cd " + folder_ / "." + " && llvm-dwp-14 exits.dwo -o exits.dwp && rm *.dwo");
  const Answer answer = AskOfMain();
  EXPECT_NE(answer.chain.front().line, 0u);
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_NE(answer.notes[0].find(path_ + ".dwp, which is not read"), std::string::npos)
      << answer.notes[0];
}

// Two programs whose common debug info dwz put into a third file.
TEST_F(ModuleFiles, HaveWhatTheyShareInAnotherFileOrSayThatItIsGone) {
  if (std::system("command -v dwz >/dev/null") != 0) GTEST_SKIP() << "dwz is not installed";
  const std::string program = Stripped("");
  Shell(fmt::format("cd {} && cp program twin && dwz -m {} program twin", folder_ / ".",
                    folder_ / "shared"));
  const Answer whole = Ask(program, program_.build_id());
  EXPECT_EQ(whole.chain.size(), 3u);
  EXPECT_EQ(whole.chain.back(), kOutermost);
  EXPECT_TRUE(whole.notes.empty());
  std::filesystem::remove(folder_ / "shared");
  const Answer without = Ask(program, program_.build_id());
  EXPECT_FALSE(without.chain.front().function.empty());
  ASSERT_EQ(without.notes.size(), 1u);
  EXPECT_NE(without.notes[0].find(folder_ / "shared"), std::string::npos) << without.notes[0];
}

TEST_F(ModuleFiles, ThatLackDebugInfoNameThePackagesThatHaveItAskedForTogether) {
  const std::string stripped = Stripped("--strip-debug");
  const std::string twin = folder_ / "twin";
  std::filesystem::copy_file(stripped, twin);
  std::vector<std::vector<std::string>> asked;
  SymbolizerOptions options;
  options.packages_of = [&](const std::vector<std::string>& files) {
    asked.push_back(files);
    return std::vector<std::string>{"program-dbgsym", ""};
  };
  const std::vector<SnapshotModule> modules = {{stripped, program_.build_id()},
                                               {twin, program_.build_id()},
                                               {folder_ / "missing", program_.build_id()}};
  const std::vector<SnapshotFrame> frames = {{0, Offset()}, {1, Offset()}, {2, Offset()}};
  const auto symbolizer = MakeSymbolizer(options);
  symbolizer->Resolve(modules, frames);
  EXPECT_EQ(asked, (std::vector<std::vector<std::string>>{{stripped, twin}}));
  ASSERT_EQ(symbolizer->notes().size(), 3u);
  EXPECT_NE(symbolizer->notes()[0].find("; install program-dbgsym, or "), std::string::npos);
  EXPECT_NE(symbolizer->notes()[1].find("; build it with -g, or "), std::string::npos);
  EXPECT_EQ(symbolizer->NoteOn(modules[1]), symbolizer->notes()[1]);
  EXPECT_EQ(symbolizer->NoteOn({"/never/asked", ""}), "");
}

TEST_F(ModuleFiles, TakeNoDebugInfoOfAnotherBuild) {
  const InlinedCalls other("clang_dwarf4");
  const std::string debug = folder_ / "linked.debug";
  Shell(fmt::format("objcopy --only-keep-debug {} {}", other.path(), debug));
  const Answer answer =
      Ask(Stripped("--strip-all --add-gnu-debuglink=" + debug), program_.build_id());
  EXPECT_EQ(answer.chain, Ask(Stripped("--strip-all"), program_.build_id()).chain);
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
