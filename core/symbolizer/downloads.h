// Downloads: debug info from the servers in DEBUGINFOD_URLS, through libdebuginfod, with progress
// and one time limit for all of it together.
//
// libdwfl downloads by itself if it finds no file; this class adds the time limit to its search.
// libdebuginfod is loaded if it is installed. It caches files, and what a server did not have, in
// its usual place. Without DEBUGINFOD_URLS nothing is downloaded.
//
// Thread safety: none; during a search DEBUGINFOD_URLS may be missing from the environment.
// Failure: what can't be downloaded counts as not found; Search says whether time ran out.
#pragma once

#include <elfutils/libdwfl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace memprof {

// `total` is 0 as long as it is not known. Called about every second, for the first time with 0
// bytes.
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
    std::string module;                    // the module's name
    std::vector<std::string> directories;  // searched like /usr/lib/debug
    bool asked = false;                    // a server was asked, now or a short while ago
    bool late = false;                     // given up, or not asked, because time ran out
  };

  // The callback for Dwfl_Callbacks.
  static int FindDebugInfo(Dwfl_Module* module, void** search, const char* name, Dwarf_Addr base,
                           const char* file, const char* debuglink, GElf_Word debuglink_crc,
                           char** debug_file);

  // Finds by a build-id (hexadecimal) alone, without a module's file. Returns a descriptor, or -1.
  static int FindByBuildId(Search& search, const std::string& build_id, std::string& debug_file);

  // Whether servers are configured, and whether libdebuginfod is installed.
  static bool Wanted();
  static bool Possible();

 private:
  class Turn;

  const bool any_;  // downloads are allowed
  std::chrono::milliseconds left_;
  DownloadProgress progress_;
};

}  // namespace memprof
