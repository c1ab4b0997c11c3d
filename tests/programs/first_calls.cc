// The first call of every operator, of prctl and of similar functions, by a thread that holds a
// lock for which a constructor waits in dlopen. No hook may wait for the loader, or neither goes
// on.
//
// SITE function=Calls line=@plain   peak=? leaked=0/0 total=100/1
// SITE function=Calls line=@array   peak=? leaked=0/0 total=200/1
// SITE function=Calls line=@nothrow peak=? leaked=0/0 total=300/1
// SITE function=Calls line=@aligned peak=? leaked=0/0 total=6400/1
// SITE function=Calls line=@last    peak=? leaked=0/0 total=12800/1
// TRACKER dropped_events=0
// TRACKER unknown_frees=0
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <new>

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile bool locked, in_constructor;

void* Calls(void*) {
  pthread_mutex_lock(&lock);
  locked = true;
  while (!in_constructor) usleep(100);
  std::set_new_handler(std::get_new_handler());
  ::operator delete(::operator new(100));                              // @plain
  ::operator delete[](::operator new[](200));                          // @array
  ::operator delete(::operator new(300, std::nothrow), std::nothrow);  // @nothrow
  ::operator delete (::operator new (6400, std::align_val_t{64}),      // @aligned
                     6400, std::align_val_t{64});
  prctl(PR_SET_NAME, "caller");
  pthread_setname_np(pthread_self(), "called");
  ::operator delete(::operator new(12800), 12800);  // @last
  pthread_mutex_unlock(&lock);
  return nullptr;
}

}  // namespace

extern "C" void constructor_waits() {
  in_constructor = true;
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
}

int main() {
  alarm(20);
  char directory[4096] = {};
  if (readlink("/proc/self/exe", directory, sizeof directory - 1) < 0) return 1;
  char path[5000];
  snprintf(path, sizeof path, "%s/libwaiting_constructor.so", dirname(directory));
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Calls, nullptr) != 0) return 2;
  while (!locked) usleep(100);
  if (dlopen(path, RTLD_NOW) == nullptr) return 3;
  pthread_join(thread, nullptr);
  return 0;
}
