#include "cli/http/http_place.h"

#include <gtest/gtest.h>

#include "cli/http/base64.h"

namespace memprof {
namespace {

TEST(ListenAddress, IsReadAsPeopleWriteIt) {
  const auto four = ParseListenAddress("127.0.0.1:9090");
  ASSERT_TRUE(four);
  EXPECT_EQ(four->host, "127.0.0.1");
  EXPECT_EQ(four->port, 9090);
  EXPECT_EQ(UrlOf(*four, 9090), "http://127.0.0.1:9090");
  const auto six = ParseListenAddress("[::1]:0");
  ASSERT_TRUE(six);
  EXPECT_EQ(UrlOf(*six, 4711), "http://[::1]:4711");
  EXPECT_EQ(ParseListenAddress("localhost:1")->host, "127.0.0.1");
  EXPECT_EQ(UrlOf(*ParseListenAddress("unix:/run/x"), 0), "unix:/run/x");
}

TEST(ListenAddress, IsLocalOnlyIfNobodyElseReachesIt) {
  for (const char* local : {"127.0.0.1:0", "127.9.9.9:0", "[::1]:0", "unix:/x"}) {
    EXPECT_TRUE(ParseListenAddress(local)->is_local()) << local;
  }
  for (const char* open : {"0.0.0.0:0", "[::]:0", "192.168.1.1:0", "[::ffff:127.0.0.1]:0"}) {
    EXPECT_FALSE(ParseListenAddress(open)->is_local()) << open;
  }
}

TEST(ListenAddress, IsRefusedInOneLine) {
  const std::string too_long = "unix:/" + std::string(200, 'x');
  for (const std::string& wrong :
       {std::string(), std::string("127.0.0.1"), std::string("127.0.0.1:"), std::string(":80"),
        std::string("a.example:80"), std::string("[::1:80"), std::string("[a]:1"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"), std::string("unix:x"),
        std::string("unix:/"), std::string("1.2.3.4:5:6"), too_long}) {
    const auto read = ParseListenAddress(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
}

TEST(ServedPlace, IsAUrlOrASocket) {
  EXPECT_TRUE(IsServedPlace("http://x"));
  EXPECT_TRUE(IsServedPlace("unix:/x"));
  EXPECT_FALSE(IsServedPlace("x.memprof"));
  EXPECT_FALSE(IsServedPlace("4711"));
  const auto served = ParseServedPlace("http://host.example:9090/?run=4711");
  ASSERT_TRUE(served);
  EXPECT_EQ(served->place.host, "host.example");
  EXPECT_EQ(served->place.port, 9090);
  EXPECT_EQ(served->run, "4711");
  EXPECT_EQ(ParseServedPlace("http://[::1]/")->place.host, "::1");
  EXPECT_EQ(ParseServedPlace("http://h")->place.port, 80);
  EXPECT_EQ(ParseServedPlace("unix:/a/b?run=1")->place.socket, "/a/b");
  for (const char* wrong : {"https://a", "http://", "http://a/b", "http://a:x",
                            "http://a?run=", "http://a?run=b", "http://me@a", "unix:/"}) {
    EXPECT_FALSE(ParseServedPlace(wrong)) << wrong;
  }
}

TEST(Base64, ComesBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (size_t length = 0; length < all.size(); ++length) {
    EXPECT_EQ(FromBase64(ToBase64(all.substr(0, length))), all.substr(0, length));
  }
  EXPECT_EQ(ToBase64("hello"), "aGVsbG8=");
  EXPECT_FALSE(FromBase64("a b"));
}

}  // namespace
}  // namespace memprof
