#include "cli/supervisor/processes/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace memprof {

void HoldStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    // open() takes the lowest free number, and all below are open by now.
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return;
  }
}

}  // namespace memprof
