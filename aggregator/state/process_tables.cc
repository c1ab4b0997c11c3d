#include "aggregator/state/process_tables.h"

#include "aggregator/state/counting.h"

namespace memprof {

constinit Region process_region;
constinit MappedRegion mapped_region;
constinit ModuleTable modules{process_region};
constinit StackTable stacks{process_region, modules};
constinit PythonCodes python_codes{process_region};
constinit LiveMap live;
constinit SlotTable slots;
constinit SlotCells slot_cells{process_region};
constinit Segments segments{process_region, CountsAnything};
pthread_key_t exit_key;

constinit uint32_t temporary_threshold = 1;

}  // namespace memprof
