// A renderer that starts a thread per job. The library that it calls keeps a context per thread, by
// pthread_setspecific with a key without destructor: each thread that ends leaves its context
// behind.
//
// shape: leaking thread-locals
// leaks: ThreadContext
// harmless: RenderJob
// runs: small medium large
#include <pthread.h>

#include <string>

#include "load.h"

struct Context {
  char name[32];
  unsigned char scratch[];
};

pthread_key_t key;
std::size_t scratch_bytes;

Context* ThreadContext() {
  auto* context = static_cast<Context*>(pthread_getspecific(key));
  if (context == nullptr) {
    context = static_cast<Context*>(std::malloc(sizeof(Context) + scratch_bytes));
    std::memset(context->scratch, 0, scratch_bytes);
    pthread_setspecific(key, context);
  }
  return context;
}

void RenderJob(std::uint64_t seed) {
  load::Random random(seed);
  std::vector<std::string> lines;
  for (std::uint64_t i = 0, n = random.Between(10, 300); i < n; ++i) {
    lines.emplace_back(random.Between(10, 120), '#');
    ThreadContext()->scratch[i % scratch_bytes] ^= 1;
  }
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 35);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 50.0));
  pthread_key_create(&key, nullptr);
  scratch_bytes = run.Pick(64, 800, 20000);
  load::Random random(151);
  load::Arrivals jobs(run, 152);
  while (run.Next()) {
    for (unsigned n = jobs.Due(run.Pick(4.0, 20.0, 40.0)); n > 0; --n) {
      std::thread(RenderJob, random()).join();
    }
  }
}
