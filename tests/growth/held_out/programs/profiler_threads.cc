// A file server with a thread per transfer. Its own profiler registers a table for each thread when
// it starts, in a global list, and has no way to learn that the thread has ended.
//
// shape: leaking per-thread tables, by threads that end
// leaks: RegisterThread
// harmless: Transfer
// runs: small medium large
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "load.h"

struct ThreadTable {
  std::string name;
  std::vector<std::uint32_t> counts;
};

std::mutex tables_mutex;
std::list<ThreadTable> tables;
std::size_t table_entries = 16;

void RegisterThread(std::uint64_t id) {
  const std::lock_guard lock(tables_mutex);
  tables.push_back(
      {"transfer thread " + std::to_string(id), std::vector<std::uint32_t>(table_entries)});
}

void Transfer(std::uint64_t id) {
  RegisterThread(id);
  load::Random random(id);
  for (int i = 0; i < 20; ++i) {
    const std::string block(random.Between(1000, 60000), 'b');
    if (block.size() == 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 40.0));
  table_entries = run.Pick(8, 200, 6000);
  load::Random random(911);
  load::Arrivals transfers(run, 912);
  std::list<std::thread> running;
  while (run.Next()) {
    for (unsigned n = transfers.Due(run.Pick(3.0, 15.0, 40.0)); n > 0; --n) {
      running.emplace_back(Transfer, random());
      if (running.size() > 8) {
        running.front().join();
        running.pop_front();
      }
    }
  }
  for (auto& thread : running) thread.join();
}
