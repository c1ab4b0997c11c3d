#include "cli/live/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "core/write_all.h"

namespace memprof {
namespace {

constexpr size_t kMostLines = 1000;
constexpr size_t kLongestLine = 4096;
constexpr uint64_t kMostRead = uint64_t{256} << 10;  // a look skips what is before

std::string TemporaryFolder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

uint64_t SizeOf(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

bool Copy(int from, int to) {
  bool any = false;
  std::vector<char> bytes(size_t{64} << 10);
  for (;;) {
    const ssize_t n = read(from, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || !WriteAll(to, bytes.data(), static_cast<size_t>(n))) return any;
    any = true;
  }
}

}  // namespace

Result<ProgramOutput::Stream> ProgramOutput::Open(const std::string& folder) {
  std::string path = folder + "/memprof-output-XXXXXX";
  Stream stream;
  stream.writing.Reset(mkostemp(path.data(), O_APPEND | O_CLOEXEC));
  if (!stream.writing) {
    return Fail(ErrorKind::kIo,
                fmt::format("no file for the program's output: {}: {}", path, strerror(errno)));
  }
  // Another open file, whose place isn't the program's.
  stream.printing.Reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  unlink(path.c_str());
  if (!stream.printing) return Fail(ErrorKind::kIo, fmt::format("{}: {}", path, strerror(error)));
  return stream;
}

Result<ProgramOutput> ProgramOutput::Make() {
  auto out = Open(TemporaryFolder());
  if (!out) return tl::unexpected<Error>(out.error());
  auto err = Open(TemporaryFolder());
  if (!err) return tl::unexpected<Error>(err.error());
  return ProgramOutput(std::move(*out), std::move(*err));
}

void ProgramOutput::Add(std::string& line) {
  lines_.push_back(std::exchange(line, {}));
  if (lines_.size() > kMostLines) lines_.pop_front();
}

bool ProgramOutput::Look(Stream& stream) {
  const uint64_t size = SizeOf(stream.printing.get());
  if (size <= stream.looked) return false;
  if (size - stream.looked > kMostRead) {
    stream.looked = size - kMostRead;
    stream.unfinished.clear();
  }
  std::string bytes(size - stream.looked, '\0');
  const ssize_t n =
      pread(stream.printing.get(), bytes.data(), bytes.size(), static_cast<off_t>(stream.looked));
  if (n <= 0) return false;
  stream.looked += static_cast<uint64_t>(n);
  for (ssize_t i = 0; i < n; ++i) {
    const char c = bytes[static_cast<size_t>(i)];
    if (c == '\n') {
      Add(stream.unfinished);
    } else if (stream.unfinished.size() < kLongestLine) {
      stream.unfinished += c;
    }
  }
  return true;
}

bool ProgramOutput::Look() {
  const bool out = Look(out_);
  const bool err = Look(err_);
  return out || err;
}

bool ProgramOutput::Print() {
  const bool out = Copy(out_.printing.get(), STDOUT_FILENO);
  const bool err = Copy(err_.printing.get(), STDERR_FILENO);
  return out || err;
}

}  // namespace memprof
