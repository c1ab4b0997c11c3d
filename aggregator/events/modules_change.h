// ModulesChange: called around the unload of a module (dlclose).
//
// Thread safety, failure, errno: as heap_events.h.
#pragma once

namespace memprof {

void BeforeModulesChange();
void AfterModulesChange();

}  // namespace memprof
