#include "core/profile/renamed_functions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace memprof {
namespace {

// A profile of stacks, each given from main inwards, all in the program unless a function is
// "libx.so!f".
class Stacks {
 public:
  Stacks() {
    profile_.program.program = "/x/demo";
    profile_.modules = {{"/x/demo", ""}, {"/x/libx.so.1", ""}};
    profile_.nodes.push_back({});
  }

  Stacks& Add(uint64_t bytes, uint64_t blocks, const std::vector<std::string>& functions) {
    uint32_t node = 0;
    for (std::string function : functions) {
      const bool library = function.starts_with("libx.so!");
      if (library) function.erase(0, 8);
      ProfileFrame frame;
      frame.function = function;
      frame.module = library ? 1 : 0;
      profile_.frames.push_back(frame);
      profile_.nodes.push_back({node, static_cast<uint32_t>(profile_.frames.size() - 1)});
      node = static_cast<uint32_t>(profile_.nodes.size() - 1);
    }
    ProfileSite site;
    site.node = node;
    site.total = {bytes, blocks};
    profile_.sites.push_back(site);
    return *this;
  }

  const Profile& profile() const { return profile_; }

 private:
  Profile profile_;
};

// "f > g", the names before and after.
std::vector<std::string> Renamed(const Stacks& before, const Stacks& after) {
  std::vector<std::string> pairs;
  for (const RenamedFunction& renamed : FindRenamedFunctions(before.profile(), after.profile())) {
    pairs.push_back(renamed.before.function + " > " + renamed.after.function);
  }
  return pairs;
}

using Pairs = std::vector<std::string>;

TEST(RenamedFunctions, PairsByCallersAndSize) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "Load", "malloc"}).Add(50, 1, {"main", "Run"}),
                    Stacks().Add(1005, 10, {"main", "Read", "malloc"}).Add(50, 1, {"main", "Run"})),
            Pairs{"Load > Read"});
}

TEST(RenamedFunctions, PairsAChainOfThem) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "a::Load", "a::Parse", "a::Node"}),
                    Stacks().Add(1000, 10, {"main", "b::Load", "b::Parse", "b::Node"})),
            (Pairs{"a::Load > b::Load", "a::Node > b::Node", "a::Parse > b::Parse"}));
}

TEST(RenamedFunctions, PairsAChainOfWhichNoNameIsLikeAnother) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "Load", "Parse", "Node", "malloc"}),
                    Stacks().Add(1000, 10, {"main", "Read", "Scan", "Item", "malloc"})),
            (Pairs{"Load > Read", "Node > Item", "Parse > Scan"}));
}

TEST(RenamedFunctions, PairsANewSignatureThatAllocatesMore) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "Parse(char const*)", "malloc"}),
                    Stacks().Add(9000, 90, {"main", "Parse(std::string_view)", "malloc"})),
            Pairs{"Parse(char const*) > Parse(std::string_view)"});
}

TEST(RenamedFunctions, LeavesOtherSizesAndOtherCallersAlone) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "Load", "malloc"}),
                    Stacks().Add(2000, 10, {"main", "Read", "malloc"})),
            Pairs{});
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "A", "Load"}).Add(1, 1, {"main", "B"}),
                    Stacks().Add(1000, 10, {"main", "B", "Read"}).Add(1, 1, {"main", "A"})),
            Pairs{});
}

TEST(RenamedFunctions, LeavesWhatFitsTwoAlone) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "Load"}),
                    Stacks().Add(1000, 10, {"main", "ReadA"}).Add(1000, 10, {"main", "ReadB"})),
            Pairs{});
}

TEST(RenamedFunctions, PairsNoNamelessCode) {
  EXPECT_EQ(Renamed(Stacks().Add(1000, 10, {"main", "demo+0x10"}),
                    Stacks().Add(1000, 10, {"main", "Read"})),
            Pairs{});
}

TEST(RenamedFunctions, AreGivenTheirLaterNamesAndModules) {
  Stacks before, after;
  before.Add(1000, 10, {"main", "Load", "malloc"});
  after.Add(1000, 10, {"main", "libx.so!Load", "malloc"});
  Profile named = before.profile();
  const auto renamed = FindRenamedFunctions(named, after.profile());
  EXPECT_EQ(RenamedNote(renamed),
            "Load of [program] is now Load of libx.so (paired by callers and size)");
  ApplyLaterNames(renamed, named);
  EXPECT_EQ(SymbolKeyOf(named, named.frames[1]),
            SymbolKeyOf(after.profile(), after.profile().frames[1]));
  EXPECT_EQ(FindRenamedFunctions(named, after.profile()).size(), 0u);
}

}  // namespace
}  // namespace memprof
