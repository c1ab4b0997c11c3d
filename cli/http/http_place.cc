#include "cli/http/http_place.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <optional>

namespace memprof {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kRun = "?run=";

std::optional<uint16_t> PortOf(std::string_view text) {
  if (text.empty() || text.size() > 5 ||
      text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const unsigned long port = std::stoul(std::string(text));
  if (port > 65535) return std::nullopt;
  return static_cast<uint16_t>(port);
}

struct Authority {
  std::string host;
  std::optional<uint16_t> port;
};

// Unset: it isn't of the form host, host:port or [v6]:port.
std::optional<Authority> Split(std::string_view text) {
  Authority split;
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    split.host = text.substr(1, end - 1);
    if (split.host.find(':') == std::string::npos) return std::nullopt;
    rest = text.substr(end + 1);
  } else {
    const size_t end = std::min(text.find(':'), text.size());
    split.host = text.substr(0, end);
    rest = text.substr(end);
  }
  if (split.host.empty() || split.host.find_first_of("/\\@?# \t\r\n[]") != std::string::npos) {
    return std::nullopt;
  }
  if (rest.empty()) return split;
  if (rest[0] != ':') return std::nullopt;
  split.port = PortOf(rest.substr(1));
  if (!split.port) return std::nullopt;
  return split;
}

Result<std::string> SocketPath(const std::string& text) {
  std::string path = text.substr(kUnix.size());
  if (path.size() < 2 || path[0] != '/' || path.size() >= sizeof sockaddr_un::sun_path ||
      path.find('\0') != std::string::npos) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: write unix: and an absolute path of at most {} bytes", text,
                            sizeof sockaddr_un::sun_path - 1));
  }
  return path;
}

std::string InBrackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

bool IsAddress(const std::string& host) {
  in6_addr bytes;
  return inet_pton(AF_INET, host.c_str(), &bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

bool ListenAddress::is_local() const {
  if (!socket.empty()) return true;
  in_addr four;
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six;
  return inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  ListenAddress address;
  if (text.starts_with(kUnix)) {
    auto path = SocketPath(text);
    if (!path) return tl::unexpected<Error>(path.error());
    address.socket = std::move(*path);
    return address;
  }
  const auto split = Split(text);
  if (!split || !split->port) {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is no address to listen on; write 127.0.0.1:0, [::1]:9090 or "
                            "unix:/path",
                            text));
  }
  address.host = split->host == "localhost" ? "127.0.0.1" : split->host;
  address.port = *split->port;
  if (!IsAddress(address.host)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}': write an address of this machine in digits in place of {}", text,
                            split->host));
  }
  return address;
}

std::string UrlOf(const ListenAddress& address, uint16_t port) {
  if (!address.socket.empty()) return std::string(kUnix) + address.socket;
  return fmt::format("http://{}:{}", InBrackets(address.host), port);
}

bool IsServedPlace(std::string_view text) {
  return text.starts_with(kHttp) || text.starts_with("https://") || text.starts_with("unix:/");
}

Result<ServedPlace> ParseServedPlace(const std::string& text) {
  ServedPlace served;
  std::string left = text;
  if (const size_t at = left.find(kRun); at != std::string::npos) {
    served.run = left.substr(at + kRun.size());
    left.resize(at);
    if (served.run.empty() || served.run.size() > 9 ||
        served.run.find_first_not_of("0123456789") != std::string::npos) {
      return Fail(ErrorKind::kUsage, fmt::format("{}: behind ?run= there is no pid", text));
    }
  }
  if (left.starts_with(kUnix)) {
    auto path = SocketPath(left);
    if (!path) return tl::unexpected<Error>(path.error());
    served.place.socket = std::move(*path);
    return served;
  }
  if (!left.starts_with(kHttp)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: memprof serves plain HTTP; tunnel it by ssh, or "
                            "ask the proxy's own side",
                            text));
  }
  left.erase(0, kHttp.size());
  if (left.ends_with('/')) left.pop_back();
  const auto split = Split(left);
  if (!split) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: write http://HOST:PORT, or http://HOST:PORT/?run=PID", text));
  }
  served.place.host = split->host;
  served.place.port = split->port.value_or(80);
  return served;
}

std::string HostOf(std::string_view authority) {
  const auto split = Split(authority);
  return split ? split->host : std::string();
}

}  // namespace memprof
