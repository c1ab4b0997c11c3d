// OwnRegionPlace: a region's place with a descriptor of its own. A thread or an object that has one
// can read the region after its owner closed it.
//
// Thread safety: a plain value. Failure: it is false if there are too many open files.
#pragma once

#include <fcntl.h>

#include "core/region/region_place.h"
#include "core/scoped_fd.h"

namespace memprof {

class OwnRegionPlace {
 public:
  // Duplicates the place's descriptor.
  explicit OwnRegionPlace(const RegionPlace& place)
      : fd_(fcntl(place.fd, F_DUPFD_CLOEXEC, 0)), place_(place.By(fd_.get())) {}

  explicit operator bool() const { return static_cast<bool>(fd_); }
  const RegionPlace& operator*() const { return place_; }
  const RegionPlace* operator->() const { return &place_; }

 private:
  ScopedFd fd_;
  RegionPlace place_;
};

}  // namespace memprof
