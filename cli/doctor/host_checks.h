// Checks what memprof needs on this machine for any program.
//
// Thread safety: pure, except for files that are made and removed. Failure: it is the result.
#pragma once

#include <string>
#include <vector>

namespace memprof {

struct HostCheck {
  std::string what;
  bool fine = false;
  bool needed = true;  // false: memprof works without it, less well
  std::string said;
};

std::vector<HostCheck> CheckHost();

}  // namespace memprof
