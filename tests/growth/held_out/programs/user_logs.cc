// A messenger in C's style with a log per user: a text that realloc doubles when it is full. Each
// one grows by steps, at its own time; all together grow evenly.
//
// shape: many strings that each double without end
// leaks: append_log
// harmless: format_line
// runs: small medium large
#include "load.h"

namespace {

struct Log {
  char* text;
  std::size_t used;
  std::size_t room;
};

char* format_line(std::uint64_t user, std::uint64_t words) {
  auto* line = static_cast<char*>(std::malloc(40 + words * 6));
  int length = std::snprintf(line, 40, "<%lu>", static_cast<unsigned long>(user));
  for (std::uint64_t i = 0; i < words; ++i) length += std::snprintf(line + length, 7, " hello");
  return line;
}

void append_log(Log& log, const char* line) {
  const std::size_t length = std::strlen(line);
  while (log.used + length > log.room) {
    log.room = log.room == 0 ? 64 : log.room * 2;
    log.text = static_cast<char*>(std::realloc(log.text, log.room));
  }
  std::memcpy(log.text + log.used, line, length);
  log.used += length;
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  std::vector<Log> logs(run.Pick(5, 100, 2000));
  load::Random random(941);
  load::Arrivals lines(run, 942);
  while (run.Next()) {
    for (unsigned n = lines.Due(run.Pick(6.0, 200.0, 12000.0)); n > 0; --n) {
      const std::uint64_t user = random.Below(logs.size());
      char* line = format_line(user, random.Between(1, 15));
      append_log(logs[user], line);
      std::free(line);
    }
  }
}
