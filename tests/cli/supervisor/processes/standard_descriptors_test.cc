#include "cli/supervisor/processes/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace memprof {
namespace {

// In a child, whose descriptors are its own.
TEST(StandardDescriptors, AreHeldWhereTheCallerClosedThem) {
  const pid_t child = fork();
  if (child == 0) {
    close(0);
    close(2);
    HoldStandardDescriptors();
    const bool held = fcntl(0, F_GETFD) == FD_CLOEXEC && fcntl(2, F_GETFD) == FD_CLOEXEC;
    const bool kept = fcntl(1, F_GETFD) == 0;  // to be inherited as it was
    _exit(held && kept ? 0 : 1);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace memprof
