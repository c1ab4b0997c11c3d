// Listener: a socket that listens where the user said.
//
// Ownership: a unix socket's file is removed with the object, unless the object was released.
// Failure: kIo, one line: the address is taken, or can't be had.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/http/http_place.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class Listener {
 public:
  // A file in the place of a unix socket is replaced if it is a socket of this user on which nobody
  // listens. Only this user may connect to the new one.
  static Result<Listener> Open(const ListenAddress& address);
  // One that this process inherited.
  Listener(ScopedFd fd, std::string url, std::string file);

  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return fd_.get(); }
  const std::string& url() const { return url_; }  // where it listens
  const std::string& file() const { return file_; }
  // Another process has it now.
  void Release();

 private:
  ScopedFd fd_;
  std::string url_;
  std::string file_;  // to be removed if it is still this one; empty: none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace memprof
