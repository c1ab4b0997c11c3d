// TargetProcess: a running process as /proc has it, and whether memprof can be put into it.
//
// Thread safety: none. Failure: a sentence that says what to do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/attach_protocol.h"
#include "core/result.h"

namespace memprof {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file
  bool executable = false;
  std::string path;  // empty: none
};

class TargetProcess {
 public:
  // Fails where nothing can be injected, but for the rights, which only the attempt shows.
  // `library` is what will be loaded.
  static Result<TargetProcess> Examine(pid_t pid, const std::string& library);

  pid_t pid() const { return pid_; }
  const std::string& program() const { return program_; }  // the executable's base name
  const std::vector<std::string>& warnings() const { return warnings_; }
  // As of Examine, or the last Remap.
  const std::vector<Mapping>& mappings() const { return mappings_; }
  void Remap();
  const Mapping* At(uint64_t address) const;

  // A path of the process as we can open it, whatever its root is.
  std::string Reachable(const std::string& path) const;
  // Where an exported function or object of a module is; 0: it has none. The module is known by the
  // begin of its file's name (libc.so, libmemprof_attach.so).
  uint64_t Find(const char* module, const char* symbol) const;

  // The path of the module that defines malloc.
  const std::string& allocator() const { return allocator_; }

  // The file of its loader, which may be its executable; empty: not known.
  const std::string& loader() const { return loader_; }

  // What our library says in it; nullopt: it isn't loaded.
  std::optional<AttachState> State() const;

  bool Read(uint64_t address, void* to, size_t bytes) const;
  bool Write(uint64_t address, const void* from, size_t bytes) const;
  // Those that run still.
  std::vector<pid_t> Threads() const;
  // One of them: the main thread, unless that one has ended.
  pid_t LivingThread() const;

 private:
  explicit TargetProcess(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  std::string program_;
  std::string allocator_;
  std::string loader_;
  std::vector<std::string> warnings_;
  std::vector<Mapping> mappings_;
};

inline constexpr char kAttachLibraryName[] = "libmemprof_attach.so";

// What lacks to trace a process that this one may not trace, and what to do.
std::string HowToHaveTheRight();

// The base name of a mapping's file.
std::string ModuleName(const Mapping& mapping);

}  // namespace memprof
