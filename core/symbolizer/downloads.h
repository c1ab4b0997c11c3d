// Downloads: debug info from the servers of DEBUGINFOD_URLS, through libdebuginfod, within a limit
// of time for all of it together, with progress.
//
// libdwfl downloads by itself where it finds no file; this is its search with a watch on it.
// libdebuginfod is loaded if it is there and keeps what it fetched, and what a server did not have,
// in its usual cache. Without DEBUGINFOD_URLS nothing of this happens.
//
// Thread safety: none; while it searches, DEBUGINFOD_URLS may be gone from the environment.
// Failure: what can't be had is not found; Search says whether it was for want of time.
#pragma once

#include <elfutils/libdwfl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace memprof {

// `total` is 0 as long as it is not known. Called about every second, at first with 0.
using DownloadProgress =
    std::function<void(const std::string& module, uint64_t bytes, uint64_t total)>;

class Downloads {
 public:
  Downloads(std::chrono::milliseconds limit, DownloadProgress progress)
      : any_(limit > std::chrono::milliseconds(0)), left_(limit), progress_(std::move(progress)) {}

  // The search for the debug info of one module. The user data of its Dwfl_Module points here.
  struct Search {
    Downloads* downloads = nullptr;
    Dwfl* dwfl = nullptr;
    std::string module;  // its name
    bool asked = false;  // a server was, now or lately
    bool late = false;   // given up, or not asked, for want of time
  };

  // For Dwfl_Callbacks.
  static int FindDebugInfo(Dwfl_Module* module, void** search, const char* name, Dwarf_Addr base,
                           const char* file, const char* debuglink, GElf_Word debuglink_crc,
                           char** debug_file);

  // By a build-id (hexadecimal) alone, without a module's file: a descriptor, or -1.
  static int FindByBuildId(Search& search, const std::string& build_id, std::string& debug_file);

  // Whether servers are named, and whether the library that asks them is here.
  static bool Wanted();
  static bool Possible();

 private:
  class Turn;

  const bool any_;  // downloads are allowed
  std::chrono::milliseconds left_;
  DownloadProgress progress_;
};

}  // namespace memprof
