#include "cli/commands/options/serve_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "cli/http/http_client.h"

namespace memprof {

void AddServeOptions(Arguments& arguments, const std::string& name, const std::string& description,
                     ServeFlags& flags) {
  arguments.Add(name, flags.address, description).TypeName("ADDRESS");
  arguments.AddFlag("--allow-remote", flags.allow_remote,
                    "Let other machines ask: ADDRESS is not loopback, and a token is needed");
  arguments
      .Add("--token-file", flags.token_file,
           fmt::format("Answer only who shows the token in this file (default: the one in {})",
                       kTokenVariable))
      .TypeName("FILE");
  arguments
      .Add("--host", flags.hosts,
           "Also answer requests for this host's name; addresses and localhost always are; "
           "repeatable")
      .TypeName("NAME")
      .OneValueEach();
}

AccessRules RulesFor(const ListenAddress& address, const std::vector<std::string>& hosts,
                     std::string token) {
  AccessRules rules;
  rules.checks_host = address.socket.empty();
  rules.token = std::move(token);
  for (std::string host : hosts) {
    for (char& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    rules.names.push_back(std::move(host));
  }
  return rules;
}

Result<ServePlan> ReadServeFlags(const ServeFlags& flags, const std::string& name) {
  auto address = ParseListenAddress(flags.address);
  if (!address) return Fail(address.error().kind, name + " " + address.error().message);
  auto token = ReadToken(flags.token_file);
  if (!token) return tl::unexpected<Error>(token.error());
  unsetenv(kTokenVariable);
  if (!address->is_local() && !flags.allow_remote) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("{} {}: other machines would reach it; give --allow-remote and a token, or "
                    "listen on 127.0.0.1 and tunnel it by ssh",
                    name, flags.address));
  }
  if (!address->is_local() && token->empty()) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("--allow-remote needs a token: --token-file FILE, or {} in the environment",
                    kTokenVariable));
  }
  return ServePlan{RulesFor(*address, flags.hosts, std::move(*token)), std::move(*address)};
}

}  // namespace memprof
