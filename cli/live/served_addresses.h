// Where runs are served over HTTP: each server leaves a notice, a small file of this user beside the
// supervisors' directories, that it holds locked as long as it lives.
//
// Thread safety: none. Failure: without a notice a run has no address in `memprof list`; nothing else
// depends on it. Security: only files of this user and root are read.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "core/scoped_fd.h"

namespace memprof {

class ServedNotice {
 public:
  explicit ServedNotice(std::string url) : url_(std::move(url)) {}
  ~ServedNotice();
  ServedNotice(const ServedNotice&) = delete;

  // Says that the runs of these supervisors are served.
  void Publish(const std::vector<pid_t>& supervisors);

 private:
  const std::string url_;
  std::string path_;
  ScopedFd file_;
  std::string said_;
};

// The addresses by supervisor. Notices that dead servers left are removed.
std::map<pid_t, std::string> ServedAddresses();

}  // namespace memprof
