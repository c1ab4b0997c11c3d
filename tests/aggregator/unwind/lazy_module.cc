// A module that is linked with lazy binding: the first call of each of its imports goes through its
// PLT into the loader's resolver.

#include <unistd.h>

#include <cstdlib>

extern "C" long MemprofLazyCalls() {
  long sum = 0;
  for (int i = 0; i < 2; ++i) sum += getppid() + labs(-sum);
  return sum;
}
