// The control channel of a run: a unix socket beside the trackers' in its private directory, where
// another memprof asks the supervisor for a snapshot.
//
//   asker        ControlRequest: which run is meant (a pid of it, or its capture), and a name
//   supervisor   ControlReply, at once: mine or another run's
//                ControlReply, when there is one: taken, or why not
//
// Thread safety: none. Security: only this user and root are answered, by the kernel's word.
// Failure: Result; a peer that misbehaves is turned away and changes nothing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "cli/supervisor/channels/private_directory.h"
#include "core/result.h"

namespace memprof {

inline constexpr char kControlSocketName[] = "control";  // in the private directory
inline constexpr uint32_t kControlVersion = 3;
// How long the asker waits: for whose the run is, which a supervisor tells unless it is stopped;
// and for the outcome.
inline constexpr std::chrono::milliseconds kControlPatience{1000};
inline constexpr std::chrono::milliseconds kControlTimeout{60'000};

enum class ControlAction : uint32_t {
  kSnapshot,
  kDetach  // of memprof attach: let the process go, and write the capture
};

struct ControlRequest {
  uint32_t version = kControlVersion;
  uint32_t pid = 0;  // the program's or its memprof's; 0: `capture` tells
  ControlAction action = ControlAction::kSnapshot;
  char capture[1024] = {};  // the absolute path of the run's capture, or of its region
  char name[128] = {};      // of the snapshot; empty: its time
};

// The last two are never sent: nobody listens there, or no memprof of ours; somebody does, and
// doesn't answer.
enum class ControlStatus : uint32_t { kNotMine, kTaken, kFailed, kMine, kNobody, kSilent };

// Where a snapshot is to be found.
enum class ControlPlace : uint32_t {
  kInCapture,    // in the run's capture, as it is now
  kAtEnd,        // in the run's capture when the program has ended
  kCaptureOfOwn  // in a capture of its own
};

struct ControlReply {
  uint32_t version = kControlVersion;
  ControlStatus status = ControlStatus::kNotMine;
  ControlPlace place = ControlPlace::kInCapture;  // of kTaken
  uint32_t unused = 0;
  uint64_t time_ms = 0;  // likewise
  char name[128] = {};   // likewise: what it is called
  char text[1280] = {};  // kTaken: the capture that has it; kFailed: why
};

class ControlSocket {
 public:
  static Result<ControlSocket> Open(PrivateDirectory& directory);

  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  int fd() const { return fd_; }  // readable when somebody asks

  struct Visitor {
    int fd;  // closed by Answer
    ControlRequest request;
  };
  std::optional<Visitor> Accept();
  // The visitor is to wait for its Answer. False: it is gone already, and `fd` closed.
  static bool Promise(int fd);
  static void Answer(int fd, const ControlReply& reply);

 private:
  explicit ControlSocket(int fd) : fd_(fd) {}

  int fd_;
};

// Asks the supervisor that listens in this directory. kNotMine, kTaken, kFailed, kNobody or
// kSilent. Where to ask may have been said by another process. So only a directory of this user or
// of `other` is gone into, in which nobody else can write, and only a socket of the same user
// asked, if he listens there himself; no symbolic link is followed at either. What is checked stays
// open: it is what is asked. The reply's text is the listener's all the same.
ControlReply AskSupervisor(const std::string& directory, uid_t other, const ControlRequest& request,
                           std::chrono::milliseconds patience = kControlPatience);

// Into a field of fixed length, cut if need be.
template <size_t N>
void SetText(char (&field)[N], const std::string& text) {
  field[text.copy(field, N - 1)] = '\0';
}
template <size_t N>
std::string TextOf(const char (&field)[N]) {
  return std::string(field, strnlen(field, N));
}

}  // namespace memprof
