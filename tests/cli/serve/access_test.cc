#include "cli/serve/access.h"

#include <gtest/gtest.h>

namespace memprof {
namespace {

HttpRequest Asking(std::multimap<std::string, std::string> headers) {
  HttpRequest request;
  request.method = "GET";
  request.path = "/metrics";
  request.headers = std::move(headers);
  return request;
}

int StatusOf(const AccessRules& rules, std::multimap<std::string, std::string> headers) {
  const auto refused = RefuseRequest(rules, Asking(std::move(headers)));
  return refused ? refused->status : 200;
}

TEST(Access, TakesAddressesLocalhostAndAllowedNamesForHosts) {
  AccessRules rules;
  rules.names = {"heap.example"};
  for (const char* host : {"127.0.0.1", "127.0.0.1:1", "[::1]:80", "localhost", "LocalHost:9",
                           "10.0.0.1", "heap.example", "HEAP.example:80"}) {
    EXPECT_EQ(StatusOf(rules, {{"host", host}}), 200) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "heap.example.evil", "a@localhost", "localhost:x", "[localhost]"}) {
    EXPECT_EQ(StatusOf(rules, {{"host", host}}), 421) << host;
  }
  EXPECT_EQ(StatusOf(rules, {}), 400);
  EXPECT_EQ(StatusOf(rules, {{"host", "localhost"}, {"host", "evil.example"}}), 400);
  rules.checks_host = false;
  EXPECT_EQ(StatusOf(rules, {{"host", "anything"}}), 200);
}

TEST(Access, RefusesPagesOfOtherOrigins) {
  const AccessRules rules;
  const std::pair<std::string, std::string> host = {"host", "127.0.0.1:80"};
  EXPECT_EQ(StatusOf(rules, {host, {"origin", "http://127.0.0.1:80"}}), 200);
  for (const char* origin :
       {"null", "http://evil.example", "https://127.0.0.1:80", "http://127.0.0.1"}) {
    EXPECT_EQ(StatusOf(rules, {host, {"origin", origin}}), 403) << origin;
  }
  EXPECT_EQ(StatusOf(rules, {host, {"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(StatusOf(rules, {host, {"sec-fetch-site", "same-origin"}}), 200);
  EXPECT_EQ(
      StatusOf(rules, {host, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}}),
      200);
}

TEST(Access, ComparesSecretsWhole) {
  const std::string secret = "0123456789abcdef";
  EXPECT_TRUE(IsSameSecret(secret, secret));
  for (const std::string& wrong :
       {std::string(), secret + "0", secret.substr(1), secret.substr(0, 15), secret + secret,
        std::string("0123456789abcdeF")}) {
    EXPECT_FALSE(IsSameSecret(wrong, secret)) << wrong;
  }
  EXPECT_FALSE(IsSameSecret("", ""));
}

}  // namespace
}  // namespace memprof
