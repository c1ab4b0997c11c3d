// Executes commands from stdin, and answers each with a line: for tests of memprof attach.
//
//   grow N       allocates N blocks of 1000 bytes by malloc
//   shrink       frees half of the blocks, the oldest first
//   new N        N objects of 48 bytes by operator new[]
//   stretch      reallocs the oldest block to 5000 bytes
//   load FILE    opens a library and has its `take` allocate 7 blocks of 333 bytes
//   threads N    starts N threads that allocate and free 64-byte blocks until "calm"
//   calm         ends them: "done ROUNDS"
//   lock N       calls mlockall(N), and answers with its result
//   wait         sleeps in this thread, by poll, for 200 ms
//   end
#include <dlfcn.h>
#include <poll.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static std::deque<void*> blocks;
static std::vector<char*> objects;
static std::vector<std::thread> threads;
static std::atomic<bool> calm{false};
static std::atomic<long> rounds{0};

__attribute__((noinline)) static void Grow(long count) {
  for (long i = 0; i < count; ++i) blocks.push_back(malloc(1000));
}
__attribute__((noinline)) static void Shrink() {
  for (size_t n = blocks.size() / 2; n > 0; --n) {
    free(blocks.front());
    blocks.pop_front();
  }
}
__attribute__((noinline)) static void New(long count) {
  for (long i = 0; i < count; ++i) objects.push_back(new char[48]);
}
__attribute__((noinline)) static void Work() {
  while (!calm) {
    std::string* text = new std::string(64, 'x');
    void* block = malloc(64);
    free(block);
    delete text;
    ++rounds;
  }
}

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  blocks.resize(0);
  objects.reserve(10000);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    long count = 0;
    words >> what;
    if (what == "end") break;
    if (what == "load") {
      std::string file;
      words >> file;
      void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      auto take = library ? reinterpret_cast<void (*)()>(dlsym(library, "take")) : nullptr;
      if (take) take();
      printf("%s\n", take ? "loaded" : dlerror());
      continue;
    }
    words >> count;
    if (what == "grow") Grow(count);
    if (what == "shrink") Shrink();
    if (what == "new") New(count);
    if (what == "stretch") blocks.front() = realloc(blocks.front(), 5000);
    if (what == "lock") {
      printf("lock %d\n", mlockall(static_cast<int>(count)));
      continue;
    }
    if (what == "wait") poll(nullptr, 0, 200);
    if (what == "threads") {
      calm = false;
      for (long i = 0; i < count; ++i) threads.emplace_back(Work);
    }
    if (what == "calm") {
      calm = true;
      for (std::thread& thread : threads) thread.join();
      threads.clear();
      printf("done %ld\n", rounds.load());
      continue;
    }
    printf("%s %zu\n", what.c_str(), blocks.size());
  }
  for (void* block : blocks) free(block);
  puts("bye");
}
