// A parser of telemetry messages in the style of C, which returns early when a checksum is wrong
// and forgets the fields that it has copied by then. One message in fifty is broken.
//
// shape: leak on the error path only
// leaks: copy_field
// harmless: copy_message
// runs: small medium large
#include "load.h"

namespace {

struct Message {
  char* raw;
  std::size_t length;
  bool broken;
};

char* copy_message(std::size_t length) {
  auto* raw = static_cast<char*>(std::malloc(length));
  std::memset(raw, '7', length);
  return raw;
}

char* copy_field(const char* from, std::size_t length) {
  auto* field = static_cast<char*>(std::malloc(length + 1));
  std::memcpy(field, from, length);
  field[length] = 0;
  return field;
}

bool parse(const Message& message, std::size_t& sum) {
  char* device = copy_field(message.raw, message.length / 8);
  char* value = copy_field(message.raw + message.length / 2, message.length / 4);
  if (message.broken) return false;
  sum += device[0] + value[0];
  std::free(device);
  std::free(value);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 30);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 50.0));
  load::Random random(41);
  load::Arrivals messages(run, 42);
  const double rate = run.Pick(100.0, 5000.0, 60000.0);
  std::size_t sum = 0;
  std::size_t broken = 0;
  while (run.Next()) {
    for (unsigned n = messages.Due(rate); n > 0; --n) {
      const std::size_t length = random.Between(64, 1000);
      Message message{copy_message(length), length, random.Below(50) == 0};
      if (!parse(message, sum)) ++broken;
      std::free(message.raw);
    }
  }
  return sum == 1 && broken == 1;
}
