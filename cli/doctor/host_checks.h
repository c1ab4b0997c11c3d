// What memprof needs of this machine, whatever the program.
//
// Thread safety: pure, but for files that are made and removed. Failure: that is the result.
#pragma once

#include <string>
#include <vector>

namespace memprof {

struct HostCheck {
  std::string what;
  bool fine = false;
  bool needed = true;  // else memprof works without it, less well
  std::string said;
};

std::vector<HostCheck> CheckHost();

}  // namespace memprof
