#include "core/symbolizer/downloads.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

#include "core/symbolizer/build_id.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kUrls[] = "DEBUGINFOD_URLS";

// Functions of libdebuginfod for which libdwfl has no wrapper. They come from the library that
// libdwfl loaded itself.
struct Client {
  int (*find_debuginfo)(debuginfod_client*, const unsigned char* build_id, int bytes, char** path);
  void (*set_progress)(debuginfod_client*, int (*progress)(debuginfod_client*, long, long));
  void (*set_user_data)(debuginfod_client*, void*);
  void* (*user_data)(debuginfod_client*);

  bool complete() const {
    return find_debuginfo != nullptr && set_progress != nullptr && set_user_data != nullptr &&
           user_data != nullptr;
  }
};

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

const Client& Library() {
  static const Client client = [] {
    Client found = {};
    void* library = dlopen("libdebuginfod.so.1", RTLD_LAZY);
    if (library == nullptr) return found;
    Find(library, "debuginfod_find_debuginfo", found.find_debuginfo);
    Find(library, "debuginfod_set_progressfn", found.set_progress);
    Find(library, "debuginfod_set_user_data", found.set_user_data);
    Find(library, "debuginfod_get_user_data", found.user_data);
    return found;
  }();
  return client;
}

// Every file that libdwfl may open for a module's debug info, by build-id and by name.
std::vector<std::string> DebugFilesOf(Dwfl_Module* module, const char* file, const char* debuglink,
                                      const std::vector<std::string>& directories) {
  std::vector<std::string> files = DebugFilesByBuildId(BuildIdOf(module), directories);
  if (file == nullptr) return files;
  std::error_code error;
  for (const std::filesystem::path& path :
       {std::filesystem::path(file), std::filesystem::canonical(file, error)}) {
    const std::string link = debuglink != nullptr ? debuglink : path.filename().string() + ".debug";
    if (link.starts_with('/')) files.push_back(link);
    files.push_back(path.parent_path() / link);
    files.push_back(path.parent_path() / ".debug" / link);
    // Below each directory, with the file's own directory or the end of it.
    for (const std::string& directory : directories) {
      std::filesystem::path below = path.parent_path().relative_path();
      files.push_back(std::filesystem::path(directory) / below / link);
      while (!below.empty()) {
        std::filesystem::path rest;
        for (auto part = std::next(below.begin()); part != below.end(); ++part) rest /= *part;
        below = rest;
        files.push_back(std::filesystem::path(directory) / below / link);
      }
    }
  }
  return files;
}

// libdwfl would wait for ever for somebody who writes to a named pipe.
bool AnySpecialFile(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    struct stat info;
    return stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  });
}

}  // namespace

// One search. It may download if there is time left.
class Downloads::Turn {
 public:
  explicit Turn(Search& search) : search_(search), start_(steady_clock::now()) {
    if (!Wanted()) return;
    debuginfod_client* client = search.downloads->left_ > milliseconds(0)
                                    ? dwfl_get_debuginfod_client(search.dwfl)
                                    : nullptr;
    if (client != nullptr && Library().complete()) {
      Library().set_user_data(client, this);
      Library().set_progress(client, Progress);
      client_ = client;
      return;
    }
    // The library takes its servers only from the environment.
    if (search.downloads->any_ && search.downloads->left_ <= milliseconds(0)) search.late = true;
    urls_ = std::getenv(kUrls);
    unsetenv(kUrls);
  }
  ~Turn() {
    if (urls_) setenv(kUrls, urls_->c_str(), 1);
    if (client_ == nullptr) return;
    Library().set_progress(client_, nullptr);
    // A search in local files alone doesn't use up the time.
    if (search_.asked) search_.downloads->left_ -= Elapsed();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  debuginfod_client* client() const { return client_; }

  // Takes the descriptor that the search gave. The library remembers for a while what a server did
  // not have, without asking again.
  int Found(int fd) const {
    if (fd < 0 && client_ != nullptr) search_.asked = true;
    return fd;
  }

 private:
  milliseconds Elapsed() const {
    return std::chrono::ceil<milliseconds>(steady_clock::now() - start_);
  }

  // Returns 1 to stop.
  static int Progress(debuginfod_client* client, long bytes, long total) {
    auto* turn = static_cast<Turn*>(Library().user_data(client));
    Search& search = turn->search_;
    search.asked = true;
    if (turn->Elapsed() >= search.downloads->left_) {
      search.late = true;
      return 1;
    }
    if (const DownloadProgress& say = search.downloads->progress_) {
      // As long as the size isn't known, the library reports the number of its rounds instead.
      const bool known = total > 0;
      say(search.module, known ? static_cast<uint64_t>(std::max(bytes, 0l)) : 0,
          known ? static_cast<uint64_t>(total) : 0);
    }
    return 0;
  }

  Search& search_;
  steady_clock::time_point start_;
  debuginfod_client* client_ = nullptr;
  std::optional<std::string> urls_;
};

bool Downloads::Wanted() {
  const char* urls = std::getenv(kUrls);
  return urls != nullptr && *urls != 0;
}

bool Downloads::Possible() { return Library().complete(); }

int Downloads::FindDebugInfo(Dwfl_Module* module, void** search, const char* name, Dwarf_Addr base,
                             const char* file, const char* debuglink, GElf_Word debuglink_crc,
                             char** debug_file) {
  auto& of_module = *static_cast<Search*>(*search);
  if (AnySpecialFile(DebugFilesOf(module, file, debuglink, of_module.directories))) return -1;
  const Turn turn(of_module);
  return turn.Found(dwfl_standard_find_debuginfo(module, search, name, base, file, debuglink,
                                                 debuglink_crc, debug_file));
}

int Downloads::FindByBuildId(Search& search, const std::string& build_id, std::string& debug_file) {
  const Turn turn(search);
  if (turn.client() == nullptr || build_id.empty()) return -1;
  char* path = nullptr;
  // A length of 0 says that the build-id is written in hexadecimal digits.
  const int fd = Library().find_debuginfo(
      turn.client(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
  if (path != nullptr) debug_file = path;
  std::free(path);
  return turn.Found(fd);
}

}  // namespace memprof
