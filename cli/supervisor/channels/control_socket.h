// The control channel of a run: a unix socket beside the trackers' in its private directory.
// Another memprof uses it to ask the supervisor for a named moment, or to detach.
//
//   asker        ControlRequest: the run (by a pid of it, or its capture), and a name
//   supervisor   ControlReply, at once: this run is meant, or another one
//                ControlReply, later: done, or why not
//
// Thread safety: none. Security: only this user and root are answered; the kernel tells the peer's
// identity.
// Failure: Result; a misbehaving peer is turned away and changes nothing.
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
#include "core/scoped_fd.h"

namespace memprof {

inline constexpr char kControlSocketName[] = "control";  // in the private directory
inline constexpr uint32_t kControlVersion = 4;
// How long the asker waits for each reply. The first one comes at once unless the supervisor is
// stopped; one that is seen to be stopped is not waited for.
inline constexpr std::chrono::milliseconds kControlPatience{1000};
inline constexpr std::chrono::milliseconds kControlTimeout{60'000};

enum class ControlAction : uint32_t {
  kTakeNamedMoment,
  kDetach,  // for memprof attach: detach from the process, and write the capture
  kShow     // what runs, and descriptors to read it (shown_run.h)
};

struct ControlRequest {
  uint32_t version = kControlVersion;
  // The program's or its memprof's; 0: `capture` identifies the run. kShow: if neither is given, any
  // run answers.
  uint32_t pid = 0;
  ControlAction action = ControlAction::kTakeNamedMoment;
  char capture[1024] = {};  // the absolute path of the run's capture, or of its region
  char name[128] = {};      // of the named moment; empty: named after its time
};

// The last two are never sent. kNobody: no memprof of ours listens there. kSilent: one listens, but
// doesn't answer.
enum class ControlStatus : uint32_t { kNotMine, kTaken, kFailed, kMine, kNobody, kSilent };

// The place where a named moment is stored.
enum class ControlPlace : uint32_t {
  kInCapture,    // in the run's capture, as it is now
  kAtEnd,        // in the run's capture when the program has ended
  kCaptureOfOwn  // in a capture of its own
};

struct ControlReply {
  uint32_t version = kControlVersion;
  ControlStatus status = ControlStatus::kNotMine;
  ControlPlace place = ControlPlace::kInCapture;  // for kTaken
  uint32_t unused = 0;
  uint64_t time_ms = 0;  // for kTaken
  char name[128] = {};   // for kTaken: the named moment's name
  char text[1280] = {};  // for kTaken: the capture that has it; for kFailed: the reason
};

class ControlSocket {
 public:
  static Result<ControlSocket> Open(PrivateDirectory& directory);

  int fd() const { return fd_.get(); }  // readable when there is a request

  struct Visitor {
    int fd;  // closed by Answer
    ControlRequest request;
  };
  std::optional<Visitor> Accept();
  // Tells the visitor to wait for its Answer. False: it is gone already, and `fd` closed.
  static bool Promise(int fd);
  static void Answer(int fd, const ControlReply& reply);

 private:
  explicit ControlSocket(ScopedFd fd) : fd_(std::move(fd)) {}

  ScopedFd fd_;
};

// Asks the supervisor that listens in this directory. The status is kNotMine, kTaken, kFailed,
// kNobody or kSilent. Another process may have named the directory. So it is entered only if it
// belongs to this user or to `other`, and nobody else can write in it. The socket is used only if
// it belongs to the same user and that user listens there. Symbolic links are not followed. The
// checked files stay open, so the ones used are the ones checked. The reply's text is still the
// listener's, and is not trusted. `rest` gets the connection, on which more may follow. Threads may ask
// at the same time.
ControlReply AskSupervisor(const std::string& directory, uid_t other, const ControlRequest& request,
                           std::chrono::milliseconds patience = kControlPatience,
                           ScopedFd* rest = nullptr);

// Copies into a field of fixed length, truncating if need be.
template <size_t N>
void SetText(char (&field)[N], const std::string& text) {
  field[text.copy(field, N - 1)] = '\0';
}
template <size_t N>
std::string TextOf(const char (&field)[N]) {
  return std::string(field, strnlen(field, N));
}

}  // namespace memprof
