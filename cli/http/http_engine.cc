#include "cli/http/http_engine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "cli/basics/own_library.h"

namespace memprof {
namespace {

Result<const HttpEngine*> LoadLibrary() {
  const auto path = FindOwnLibrary(kHttpLibraryName);
  if (!path) return tl::unexpected<Error>(path.error());
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return Fail(ErrorKind::kIo, dlerror());
  const auto make =
      reinterpret_cast<decltype(&MemprofHttpEngine)>(dlsym(library, "MemprofHttpEngine"));
  const HttpEngine* engine = make == nullptr ? nullptr : make(MEMPROF_VERSION);
  if (engine == nullptr) {
    return Fail(
        ErrorKind::kIo,
        fmt::format("{} is of another version; install or build memprof as a whole", *path));
  }
  return engine;
}

}  // namespace

Result<const HttpEngine*> HttpEngine::Load() {
  static const Result<const HttpEngine*> loaded = LoadLibrary();
  return loaded;
}

}  // namespace memprof
