// A payment gateway in the style of C. One request in a thousand is over the audit limit; its audit
// record is allocated, filled, and handed to a function that was meant to own it but only copies
// it.
//
// shape: rare leak, one event in a thousand
// leaks: audit_new
// harmless: request_new
// runs: small medium large
#include <cstdio>

#include "load.h"

namespace {

struct Request {
  char* body;
  std::size_t length;
};

struct Audit {
  char card[20];
  char* reason;
  double amount;
};

Request* request_new(std::size_t length) {
  auto* request = static_cast<Request*>(std::malloc(sizeof(Request)));
  request->body = static_cast<char*>(std::malloc(length));
  std::memset(request->body, 'b', length);
  request->length = length;
  return request;
}

void request_free(Request* request) {
  std::free(request->body);
  std::free(request);
}

Audit* audit_new(double amount, std::size_t detail) {
  auto* audit = static_cast<Audit*>(std::malloc(sizeof(Audit)));
  std::snprintf(audit->card, sizeof audit->card, "4111-****-****-1111");
  audit->reason = static_cast<char*>(std::malloc(detail));
  std::memset(audit->reason, 'r', detail);
  audit->amount = amount;
  return audit;
}

double audited = 0;

void audit_submit(const Audit* audit) { audited += audit->amount; }

void pay(load::Random& random, std::size_t detail) {
  Request* request = request_new(random.Between(100, 900));
  if (random.Below(1000) == 0) audit_submit(audit_new(random.Uniform() * 1e6, detail));
  request_free(request);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 20.0, 120.0));
  load::Random random(21);
  load::Arrivals requests(run, 22);
  const double rate = run.Pick(2000.0, 20000.0, 40000.0);
  const auto detail = run.Pick<std::size_t>(160, 400, 10000);
  while (run.Next()) {
    for (unsigned n = requests.Due(rate); n > 0; --n) pay(random, detail);
  }
  return audited < 0;
}
