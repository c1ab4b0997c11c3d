#include "aggregator/events/modules_change.h"

#include "aggregator/events/python_frames.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/state/process_tables.h"

namespace memprof {

void BeforeModulesChange() {
  BeforePythonMayUnload();
  InvalidateUnwinder();
}

void AfterModulesChange() {
  const TrackerScope scope;
  modules.MarkUnloaded();
  AfterPythonMayUnload();
  InvalidateUnwinder();
}

}  // namespace memprof
