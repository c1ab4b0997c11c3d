// A simulator with a free list of events in C's style: an event that has happened goes to the list,
// and malloc is asked only when it is empty, which is rarer and rarer.
//
// shape: free list
// leaks: none
// harmless: event_new, trace_line
// runs: small medium large
#include <queue>

#include "load.h"

struct Event {
  Event* next;
  double at;
  unsigned char payload[176];
};

Event* free_events = nullptr;

Event* event_new() {
  if (free_events == nullptr) return static_cast<Event*>(std::malloc(sizeof(Event)));
  Event* event = free_events;
  free_events = event->next;
  return event;
}

void event_free(Event* event) {
  event->next = free_events;
  free_events = event;
}

char* trace_line(double at) {
  auto* line = static_cast<char*>(std::malloc(80));
  std::snprintf(line, 80, "%.9f event", at);
  return line;
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 10.0));
  const auto later = [](const Event* a, const Event* b) { return a->at > b->at; };
  std::priority_queue<Event*, std::vector<Event*>, decltype(later)> events(later);
  load::Random random(651);
  load::Arrivals due(run, 652);
  while (run.Next()) {
    const double now = run.Seconds();
    for (unsigned n = due.Due(run.Pick(50.0, 1000.0, 50000.0)); n > 0; --n) {
      Event* event = event_new();
      event->at = now + random.Exponential(0.8);
      events.push(event);
    }
    while (!events.empty() && events.top()->at < now) {
      std::free(trace_line(events.top()->at));
      event_free(events.top());
      events.pop();
    }
  }
}
