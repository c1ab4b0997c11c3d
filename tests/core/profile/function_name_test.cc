#include "core/profile/function_name.h"

#include <gtest/gtest.h>

#include <string>

namespace memprof {
namespace {

TEST(FunctionName, LeavesOutReturnTypeParametersAndQualifiers) {
  const char* cases[][2] = {
      {"parse_json", "parse_json"},
      {"json::Parse(char const*)", "json::Parse"},
      {"json::Reader<std::map<int, char> >::Read(std::string const&) const",
       "json::Reader<std::map<int, char> >::Read"},
      {"void json::Visit<int (*)(char)>(int (*)(char))", "json::Visit<int (*)(char)>"},
      {"unsigned long Sum<int>(int)", "Sum<int>"},
      {"json::(anonymous namespace)::Fill(int)", "json::(anonymous namespace)::Fill"},
      {"Queue::operator()(int) const", "Queue::operator()"},
      {"operator new(unsigned long)", "operator new"},
      {"operator new[](unsigned long)", "operator new[]"},
      {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
      {"Text::operator std::string() const", "Text::operator std::string"},
      {"Node::operator->() const", "Node::operator->"},
      {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
      {"Run(int)::{lambda()#1}::operator()() const", "Run(int)::{lambda()#1}::operator()"},
      {"alloc::vec::Vec<T>::push", "alloc::vec::Vec<T>::push"},
      {"std::string[abi:cxx11](int)", "std::string[abi:cxx11]"},
      {"[truncated]", "[truncated]"},
      {"", ""},
  };
  for (const auto& [name, qualified] : cases) EXPECT_EQ(QualifiedName(name), qualified);
}

TEST(FunctionName, LiesInEveryScopeBeforeIt) {
  const auto scopes = EnclosingScopes("json::(anonymous namespace)::Map<a::B, 1>::Read");
  ASSERT_EQ(scopes.size(), 3u);
  EXPECT_EQ(scopes[0], "json");
  EXPECT_EQ(scopes[1], "json::(anonymous namespace)");
  EXPECT_EQ(scopes[2], "json::(anonymous namespace)::Map<a::B, 1>");
  EXPECT_TRUE(EnclosingScopes("main").empty());
  EXPECT_EQ(EnclosingScopes("A::operator B::C").size(), 1u);
}

TEST(FunctionName, TakesOddNamesAsTheyAre) {
  for (const char* odd :
       {"(((", "a<b", "operator", "operator ", "f(", "::", "a::", ")", "x >y", " "}) {
    const std::string_view name = QualifiedName(odd);
    EXPECT_LE(name.size(), std::string_view(odd).size());
    EnclosingScopes(name);
  }
}

}  // namespace
}  // namespace memprof
