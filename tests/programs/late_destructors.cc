// Blocks that are freed late aren't leaked: by a thread_local's destructor, a pthread key's
// destructor, an atexit handler, a static object's destructor and an ELF destructor. Blocks that
// these allocate and keep are.
//
// SITE function=TlsOwner      line=@tls_new    peak=100/1  leaked=0/0   total=300/3
// SITE function=~TlsOwner     line=@tls_keep   peak=22/2   leaked=33/3  total=33/3
// SITE function=Thread        line=@key_new    peak=0/0    leaked=0/0   total=400/2
// SITE function=KeyDestructor line=@key_keep   peak=44/2   leaked=44/2  total=44/2
// SITE function=main          line=@exit_new   peak=500/1  leaked=0/0   total=500/1
// SITE function=AtExit        line=@exit_keep  peak=0/0    leaked=55/1  total=55/1
// SITE function=StaticOwner   line=@static_new peak=600/1  leaked=0/0   total=600/1
// SITE function=~StaticOwner  line=@static_keep peak=0/0   leaked=66/1  total=66/1
// SITE function=Fini          line=@fini_keep  peak=0/0    leaked=77/1  total=77/1
// SITE function=main          line=@fini_new   peak=700/1  leaked=0/0   total=700/1
// SITE function=main          line=@top        peak=90000/1 leaked=0/0  total=90000/1
#include <pthread.h>

#include <cstdlib>

namespace {

void* volatile kept[8];
void* volatile for_exit;
void* volatile for_fini;
pthread_key_t key;

struct TlsOwner {
  void* p;
  TlsOwner() : p(malloc(100)) {}  // @tls_new
  ~TlsOwner() {
    free(p);
    kept[0] = malloc(11);  // @tls_keep
  }
};
thread_local TlsOwner tls_owner;

struct StaticOwner {
  void* p;
  StaticOwner() : p(malloc(600)) {}  // @static_new
  ~StaticOwner() {
    free(p);
    kept[1] = malloc(66);  // @static_keep
  }
};
StaticOwner static_owner;

void KeyDestructor(void* p) {
  free(p);
  kept[2] = malloc(22);  // @key_keep
}

void AtExit() {
  free(for_exit);
  kept[3] = malloc(55);  // @exit_keep
}

__attribute__((destructor)) void Fini() {
  free(for_fini);
  kept[4] = malloc(77);  // @fini_keep
}

void* Thread(void* argument) {
  static_cast<void>(tls_owner.p);
  pthread_setspecific(key, malloc(200));  // @key_new
  return argument;
}

}  // namespace

int main() {
  if (tls_owner.p == nullptr) return 1;
  pthread_key_create(&key, KeyDestructor);
  for_exit = malloc(500);  // @exit_new
  for_fini = malloc(700);  // @fini_new
  atexit(AtExit);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, Thread, nullptr) != 0) return 2;
    pthread_join(thread, nullptr);
  }
  free(malloc(90000));  // @top
  return 0;
}
