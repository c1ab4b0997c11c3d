// Texts that `memprof detach` and `memprof snapshot` read from another process: its environment,
// the state of the library in it, a module's exported functions, a reply. A resulting path is one
// that a supervisor makes, a text is one printable line, a length is bounded.
//
//   input   1 byte: which of them; the bytes

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cli/attach/function_table.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/control_texts.h"
#include "core/printable.h"

namespace {

using namespace memprof;

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckDirectory(const std::optional<std::string>& directory) {
  if (!directory) return;
  const size_t name = directory->rfind('/');
  Require(
      directory->starts_with("/") && name != std::string::npos &&
      directory->compare(name + 1, strlen(kPrivateDirectoryPrefix), kPrivateDirectoryPrefix) == 0 &&
      directory->find("/../") == std::string::npos && directory->find('\0') == std::string::npos);
}

void CheckText(const std::string& text) { Require(!text.empty() && Printable(text) == text); }

void CheckTable(const uint8_t* data, size_t size) {
  const int fd = memfd_create("module", MFD_CLOEXEC);
  Require(write(fd, data, size) == static_cast<ssize_t>(size));
  const FunctionTable table("/proc/self/fd/" + std::to_string(fd), 0x7f0000000000);
  (void)table.Find("malloc");
  for (const uint64_t at : {uint64_t{0}, uint64_t{0x7f0000001000}, ~uint64_t{0}}) {
    (void)table.NamesAt(at);
  }
  close(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t which = data[0] % 4;
  ++data;
  --size;
  if (which == 0) {
    CheckDirectory(DirectoryInEnvironment({reinterpret_cast<const char*>(data), size}));
  } else if (which == 1) {
    AttachState state = {};
    std::memcpy(&state, data, std::min(size, sizeof state));
    CheckDirectory(DirectoryOf(state));
    const auto bytes = ThreadBytesOf(state);
    Require(!bytes || *bytes <= size_t{1} << 20);
  } else if (which == 2) {
    ControlReply reply;
    std::memset(static_cast<void*>(&reply), 0, sizeof reply);
    std::memcpy(static_cast<void*>(&reply), data, std::min(size, sizeof reply));
    CheckText(TextOfNamedMoment(reply));
    CheckText(CaptureOfDetached(reply));
  } else {
    CheckTable(data, size);
  }
  return 0;
}
