#include "core/symbolizer/downloads.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kUrls[] = "DEBUGINFOD_URLS";

// What of libdebuginfod libdwfl has no function for. The library that libdwfl loaded itself.
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

}  // namespace

// One search, which may download if there is time left.
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
    // The library takes its servers from the environment alone.
    if (search.downloads->any_ && search.downloads->left_ <= milliseconds(0)) search.late = true;
    urls_ = std::getenv(kUrls);
    unsetenv(kUrls);
  }
  ~Turn() {
    if (urls_) setenv(kUrls, urls_->c_str(), 1);
    if (client_ == nullptr) return;
    Library().set_progress(client_, nullptr);
    // A search of the files here alone takes nothing of the time.
    if (search_.asked) search_.downloads->left_ -= Elapsed();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  debuginfod_client* client() const { return client_; }

  // The descriptor that the search gave. What a server did not have the library knows for a while
  // without asking again.
  int Found(int fd) const {
    if (fd < 0 && client_ != nullptr) search_.asked = true;
    return fd;
  }

 private:
  milliseconds Elapsed() const {
    return std::chrono::ceil<milliseconds>(steady_clock::now() - start_);
  }

  // 1: stop.
  static int Progress(debuginfod_client* client, long bytes, long total) {
    auto* turn = static_cast<Turn*>(Library().user_data(client));
    Search& search = turn->search_;
    search.asked = true;
    if (turn->Elapsed() >= search.downloads->left_) {
      search.late = true;
      return 1;
    }
    if (const DownloadProgress& say = search.downloads->progress_) {
      // As long as the size isn't known, the library counts its own rounds.
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
  const Turn turn(*static_cast<Search*>(*search));
  return turn.Found(dwfl_standard_find_debuginfo(module, search, name, base, file, debuglink,
                                                 debuglink_crc, debug_file));
}

int Downloads::FindByBuildId(Search& search, const std::string& build_id, std::string& debug_file) {
  const Turn turn(search);
  if (turn.client() == nullptr || build_id.empty()) return -1;
  char* path = nullptr;
  // 0 bytes: it is written in hexadecimal digits.
  const int fd = Library().find_debuginfo(
      turn.client(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
  if (path != nullptr) debug_file = path;
  std::free(path);
  return turn.Found(fd);
}

}  // namespace memprof
