// One program in two builds, for tests/e2e/diff_test.py. LATER moves every line and address, and
// plants one regression: CacheReply keeps 40 replies of 1500 bytes instead of 10 of 1000.
//
//                 before                      after
//   Connect       5 of 2000, freed            the same
//   Remember      20 of 300, kept             the same, by ReadConfig and by Reload
//   CacheReply    10 of 1000, kept            40 of 1500, kept
#include <stdlib.h>

#ifdef LATER
// The rest is 40 lines lower, and after more code.
#line 61
__attribute__((noinline)) int Unrelated(int x) {
  volatile int sum = 0;
  for (int i = 0; i < x; ++i) sum += i * x;
  return sum;
}
enum { kReplies = 40, kReplyBytes = 1500 };
#else
enum { kReplies = 10, kReplyBytes = 1000 };
#endif

static void* volatile kept[100];
static int count;

__attribute__((noinline)) void Remember(void) { kept[count++] = malloc(300); }

__attribute__((noinline)) void ReadConfig(void) {
  for (int i = 0; i < 15; ++i) Remember();
}

__attribute__((noinline)) void Reload(void) {
  for (int i = 0; i < 5; ++i) Remember();
}

__attribute__((noinline)) void CacheReply(void) { kept[count++] = malloc(kReplyBytes); }

__attribute__((noinline)) void Serve(void) {
  for (int i = 0; i < kReplies; ++i) CacheReply();
}

__attribute__((noinline)) void Connect(void) {
  void* volatile connections[5];
  for (int i = 0; i < 5; ++i) connections[i] = malloc(2000);
  ReadConfig();
  Reload();
  Serve();
  for (int i = 0; i < 5; ++i) free(connections[i]);
}

int main(void) {
#ifdef LATER
  if (Unrelated(3) < 0) return 1;
#endif
  Connect();
  return 0;
}
