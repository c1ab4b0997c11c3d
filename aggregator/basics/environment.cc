#include "aggregator/basics/environment.h"

#include <unistd.h>

#include <cstring>

namespace memprof {

const char* EnvironmentValue(const char* name) {
  const size_t bytes = strlen(name);
  for (char** entry = __environ; *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, bytes) == 0 && (*entry)[bytes] == '=') return *entry + bytes + 1;
  }
  return nullptr;
}

}  // namespace memprof
