#include "cli/live/served_addresses.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

namespace memprof {
namespace {

constexpr std::string_view kPrefix = "memprof_served.";
constexpr size_t kLongest = 4096;

// Where notices may be; the first one that there is gets new ones.
std::vector<std::string> Places() {
  std::vector<std::string> places;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    places.emplace_back(runtime);
  }
  places.push_back(fmt::format("/run/user/{}", geteuid()));
  places.emplace_back("/tmp");
  return places;
}

void AddNotice(const std::string& path, std::map<pid_t, std::string>& addresses) {
  const ScopedFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info;
  if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      (info.st_uid != geteuid() && info.st_uid != 0)) {
    return;
  }
  if (flock(file.get(), LOCK_SH | LOCK_NB) == 0) {
    // Its server is dead.
    if (info.st_uid == geteuid()) unlink(path.c_str());
    return;
  }
  std::string text(kLongest, '\0');
  const ssize_t bytes = pread(file.get(), text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  std::istringstream words(text);
  std::string url;
  pid_t supervisor = 0;
  words >> url;
  while (words >> supervisor) addresses.emplace(supervisor, url);
}

}  // namespace

ServedNotice::~ServedNotice() {
  if (!path_.empty()) unlink(path_.c_str());
}

void ServedNotice::Publish(const std::vector<pid_t>& supervisors) {
  std::string text = url_ + "\n";
  for (const pid_t supervisor : supervisors) text += fmt::format("{}\n", supervisor);
  if (text == said_ || text.size() > kLongest) return;
  if (!file_) {
    for (const std::string& place : Places()) {
      std::string path = fmt::format("{}/{}{}", place, kPrefix, getpid());
      unlink(path.c_str());  // of a dead server with our pid
      file_ =
          ScopedFd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!file_) continue;
      path_ = std::move(path);
      break;
    }
    if (!file_ || flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return;
  }
  if (ftruncate(file_.get(), 0) != 0 ||
      pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return;
  }
  said_ = std::move(text);
}

std::map<pid_t, std::string> ServedAddresses() {
  std::map<pid_t, std::string> addresses;
  for (const std::string& place : Places()) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(place.c_str()), closedir);
    if (folder == nullptr) continue;
    while (const dirent* entry = readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      if (name.starts_with(kPrefix)) AddNotice(place + "/" + entry->d_name, addresses);
    }
  }
  return addresses;
}

}  // namespace memprof
