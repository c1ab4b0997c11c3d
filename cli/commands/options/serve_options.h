// The options of a server, for `memprof serve` and `memprof run --serve`.
#pragma once

#include <string>
#include <vector>

#include "cli/basics/arguments.h"
#include "cli/serve/access.h"
#include "cli/serve/listener.h"
#include "core/result.h"

namespace memprof {

struct ServeFlags {
  std::string address;  // empty: nothing is served
  bool allow_remote = false;
  std::string token_file;
  std::vector<std::string> hosts;
};

// `name`: the option with the address.
void AddServeOptions(Arguments& arguments, const std::string& name, const std::string& description,
                     ServeFlags& flags);

struct ServePlan {
  AccessRules rules;
  ListenAddress address;
};
// Failure: kUsage for an address or token that makes no sense, and for an address that others reach
// without --allow-remote and a token. Takes the token out of the environment, so that a program that is
// started has it not.
Result<ServePlan> ReadServeFlags(const ServeFlags& flags, const std::string& name);

// The rules for a server on this address.
AccessRules RulesFor(const ListenAddress& address, const std::vector<std::string>& hosts,
                     std::string token);

}  // namespace memprof
