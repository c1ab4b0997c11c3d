// The second file of the program inlined_calls.
#define SECOND_FILE
#include "tests/core/symbolizer/inlined_calls.h"

void CallFromSecondFile() {
  InBothFiles();
  NoTailCall();
}
