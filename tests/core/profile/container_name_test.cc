#include "core/profile/container_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace memprof {
namespace {

std::string Of(const std::vector<std::string_view>& functions) { return ContainerName(functions); }

TEST(ContainerName, IsThatOfTheOutermostContainer) {
  EXPECT_EQ(
      Of({"operator new(unsigned long)",
          "std::__new_allocator<std::_Rb_tree_node<std::pair<int const, Session> > >::allocate"
          "(unsigned long, void const*)",
          "std::_Rb_tree<int, std::pair<int const, Session>, std::_Select1st<std::pair<int const, "
          "Session> >, std::less<int>, std::allocator<std::pair<int const, Session> > "
          ">::_M_get_node()",
          "std::map<int, Session, std::less<int>, std::allocator<std::pair<int const, Session> > "
          ">::"
          "operator[](int const&)"}),
      "std::map<int, Session> node");
}

TEST(ContainerName, KnowsPartsThatAreNoNodes) {
  EXPECT_EQ(
      Of({"operator new(unsigned long)",
          "std::__detail::_Hashtable_alloc<std::allocator<std::__detail::_Hash_node<int, false> "
          "> >::_M_allocate_buckets(unsigned long)",
          "std::unordered_set<int, std::hash<int>, std::equal_to<int>, std::allocator<int> >::"
          "insert(int const&)"}),
      "std::unordered_set<int> buckets");
  EXPECT_EQ(Of({"std::_Deque_base<int, std::allocator<int> >::_M_allocate_map(unsigned long)",
                "std::deque<int, std::allocator<int> >::deque()"}),
            "std::deque<int> map");
  EXPECT_EQ(Of({"std::deque<int, std::allocator<int> >::push_back(int const&)"}),
            "std::deque<int>");
}

TEST(ContainerName, OfStringsAndVersionsOfLibraries) {
  EXPECT_EQ(Of({"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::"
                "_M_create(unsigned long&, unsigned long)"}),
            "std::string");
  EXPECT_EQ(
      Of({"std::__1::vector<std::__1::basic_string<char, std::__1::char_traits<char>, "
          "std::__1::allocator<char> >, std::__1::allocator<std::__1::basic_string<char, "
          "std::__1::char_traits<char>, std::__1::allocator<char> > > >::reserve(unsigned long)"}),
      "std::vector<std::string>");
}

TEST(ContainerName, OfFunctionsThatMakeOneObject) {
  EXPECT_EQ(Of({"operator new(unsigned long)", "std::make_unique<db::Session, int>(int&&)"}),
            "db::Session");
  EXPECT_EQ(Of({"std::make_shared<std::map<int, int, std::less<int>, "
                "std::allocator<std::pair<int const, int> > > >()"}),
            "std::map<int, int>");
}

TEST(ContainerName, IsEmptyForOtherFunctions) {
  EXPECT_EQ(Of({}), "");
  EXPECT_EQ(Of({"malloc", "strdup"}), "");
  EXPECT_EQ(Of({"operator new(unsigned long)"}), "");
  // The program's own, although it has to do with them.
  EXPECT_EQ(Of({"Keep(std::vector<int, std::allocator<int> >&)"}), "");
  EXPECT_EQ(Of({"my::vector<int>::grow()"}), "");
}

TEST(ContainerName, OfNamesThatAreNoneIsNoFailure) {
  for (const std::string_view name :
       {"std::vector<", "std::vector<int::push", "std::", "std::map<<<<", "std::vector<>>>>::x()",
        "std::make_unique<>()", "std::make_unique", "std::vector<int, >::f(", "std::map<(()>::f"}) {
    Of({name});
    ShortTypeName(name);
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "std::vector<";
  deep += "int";
  for (int i = 0; i < 1000; ++i) deep += ">";
  EXPECT_LE(ShortTypeName(deep).size(), 120u);
}

TEST(ShortTypeName, LeavesOutWhatFollows) {
  EXPECT_EQ(ShortTypeName("db::Session"), "db::Session");
  EXPECT_EQ(ShortTypeName("std::_Sp_counted_ptr_inplace<db::Session, std::allocator<void>, "
                          "(__gnu_cxx::_Lock_policy)2>"),
            "db::Session");
  EXPECT_EQ(ShortTypeName("std::_Sp_counted_ptr<db::Session*, (__gnu_cxx::_Lock_policy)2>"),
            "std::shared_ptr<db::Session> count");
  EXPECT_EQ(ShortTypeName("Cache<std::__cxx11::basic_string<char, std::char_traits<char>, "
                          "std::allocator<char> >, Page>::Entry"),
            "Cache<std::string, Page>::Entry");
  EXPECT_EQ(ShortTypeName("void (*)(int)"), "void (*)(int)");
}

}  // namespace
}  // namespace memprof
