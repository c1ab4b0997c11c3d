// A library in C's style: ctx_new and ctx_free. The name of a context was made a copy in a later
// version, and ctx_free was not told.
//
// shape: steady leak of a member that its destructor forgets
// leaks: ctx_set_name
// harmless: ctx_new
// runs: small medium large
#include "load.h"

namespace {

struct Context {
  char* name;
  unsigned char* state;
  std::size_t bytes;
};

Context* ctx_new(std::size_t bytes) {
  auto* context = static_cast<Context*>(std::calloc(1, sizeof(Context)));
  context->state = static_cast<unsigned char*>(std::calloc(1, bytes));
  context->bytes = bytes;
  return context;
}

void ctx_set_name(Context* context, const char* name) { context->name = strdup(name); }

void ctx_free(Context* context) {
  std::free(context->state);
  std::free(context);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 28);
  const auto base = load::BaseData(run.Pick(1.0, 1.0, 5.0));
  load::Random random(301);
  load::Arrivals due(run, 302);
  std::vector<Context*> open(run.Pick(20, 200, 2000));
  while (run.Next()) {
    for (unsigned n = due.Due(run.Pick(25.0, 300.0, 30000.0)); n > 0; --n) {
      Context*& context = open[random.Below(open.size())];
      if (context != nullptr) ctx_free(context);
      context = ctx_new(random.Between(100, 2000));
      ctx_set_name(context, random.Below(2) == 0 ? "default" : "an-interactive-context");
    }
  }
}
