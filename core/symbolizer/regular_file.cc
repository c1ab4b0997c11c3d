#include "core/symbolizer/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace memprof {

ScopedFd OpenRegularFile(const std::string& path, int flags) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags));
  struct stat info;
  if (fd && (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))) fd.Reset();
  return fd;
}

}  // namespace memprof
