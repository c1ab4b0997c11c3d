#include "cli/serve/access.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/http/base64.h"
#include "cli/http/http_client.h"
#include "cli/http/http_place.h"
#include "core/scoped_fd.h"

namespace memprof {
namespace {

constexpr size_t kLongestToken = 1024;

HttpResponse Refused(int status, std::string why) {
  HttpResponse response;
  response.status = status;
  response.body = MakeBody(std::move(why) + "\n");
  return response;
}

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool IsOurHost(const AccessRules& rules, const std::string& authority) {
  const std::string host = LowerCase(HostOf(authority));
  return host == "localhost" || IsAddress(host) ||
         (!host.empty() &&
          std::find(rules.names.begin(), rules.names.end(), host) != rules.names.end());
}

// The token that the request shows; empty: none.
std::string ShownToken(const HttpRequest& request) {
  const std::string header = request.Header("authorization").value_or("");
  const size_t space = header.find(' ');
  if (space == std::string::npos) return {};
  const std::string scheme = LowerCase(header.substr(0, space));
  const std::string_view rest = std::string_view(header).substr(space + 1);
  if (scheme == "bearer") return std::string(rest);
  if (scheme != "basic") return {};
  const std::string pair = FromBase64(rest).value_or("");
  const size_t colon = pair.find(':');
  return colon == std::string::npos ? std::string() : pair.substr(colon + 1);
}

}  // namespace

bool IsSameSecret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  // The volatile sum keeps a compiler from leaving early.
  volatile size_t difference = given.size() ^ secret.size();
  for (size_t i = 0; i < given.size(); ++i) {
    difference =
        difference | static_cast<size_t>(static_cast<unsigned char>(given[i]) ^
                                         static_cast<unsigned char>(secret[i % secret.size()]));
  }
  return difference == 0;
}

std::optional<HttpResponse> RefuseRequest(const AccessRules& rules, const HttpRequest& request) {
  const std::string host = request.Header("host").value_or("");
  if (rules.checks_host) {
    if (host.empty()) return Refused(400, "a request needs one Host");
    if (!IsOurHost(rules, host)) {
      return Refused(
          421,
          "this Host isn't served: ask by the address in digits or by localhost, or allow "
          "the name with --host");
    }
  }
  if (request.headers.count("origin") != 0 && request.Header("origin") != "http://" + host) {
    return Refused(403, "pages of other origins may not ask");
  }
  const auto site = request.Header("sec-fetch-site");
  const bool visits = request.Header("sec-fetch-mode") == "navigate" && request.method == "GET";
  if (site && *site != "same-origin" && *site != "none" && !visits) {
    return Refused(403, "pages of other sites may not ask");
  }
  if (rules.token.empty() || IsSameSecret(ShownToken(request), rules.token)) return std::nullopt;
  HttpResponse response = Refused(
      401, "the token is missing or wrong: send it as Authorization: Bearer, or as the password");
  response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"memprof\"");
  return response;
}

Result<std::string> ReadToken(const std::string& file) {
  std::string token;
  std::string where = kTokenVariable;
  if (file.empty()) {
    const char* value = std::getenv(kTokenVariable);
    if (value == nullptr) return std::string();
    token = value;
  } else {
    where = file;
    const ScopedFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return Fail(ErrorKind::kUsage, fmt::format("{}: {}", file, strerror(errno)));
    struct stat info;
    if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
      return Fail(ErrorKind::kUsage, file + ": not a regular file; a token is in one of its own");
    }
    if ((info.st_mode & 0077) != 0 || (info.st_uid != geteuid() && info.st_uid != 0)) {
      return Fail(ErrorKind::kUsage,
                  file + ": others may read the token; make the file yours: chmod 600");
    }
    token.resize(kLongestToken + 2);
    const ssize_t bytes = read(fd.get(), token.data(), token.size());
    token.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  }
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable || token.size() < kShortestToken || token.size() > kLongestToken) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: a token has {} to {} characters of ASCII without spaces; make one "
                            "with: openssl rand -hex 32",
                            where, kShortestToken, kLongestToken));
  }
  return token;
}

}  // namespace memprof
