// A program that wants to harm its supervisor. Several threads overwrite all memory shared with the
// supervisor, the children's area and the regions, while the supervisor reads. Run by
// hostile_test.py, which expects no figures: only that memprof survives and says so.
//
//   hostile_tree WHAT MILLISECONDS SEED     ends with status 7
//     WHAT   area    the children's area: its header, and its claims
//            region  the header and the tables of each region
//            all     both
//            claim   slots in the name of SEED: "program", "supervisor" or a pid
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/protocol/children_area.h"

using namespace memprof;

namespace {

constexpr uint32_t kSlots = 8;           // that are written to: more would only take memory
constexpr uint64_t kTableBytes = 16384;  // likewise, of each table

unsigned char* g_region = nullptr;
unsigned char* g_area = nullptr;
RegionHeader g_own, g_childs;  // as they were laid out
ChildrenLayout g_layout;
bool g_write_area, g_write_region;
uint64_t g_seed;
volatile bool g_stop = false;

unsigned char* Mapped(const char* name) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  unsigned char* at = nullptr;
  while (maps != nullptr && at == nullptr && fgets(line, sizeof line, maps) != nullptr) {
    if (strstr(line, name) != nullptr) at = (unsigned char*)strtoul(line, nullptr, 16);
  }
  if (maps != nullptr) fclose(maps);
  return at;
}

uint64_t Next(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// The values that are most likely to be trusted: small numbers, sizes, ids of processes, or
// anything.
uint64_t Value(uint64_t* state) {
  const uint64_t any = Next(state);
  switch (Next(state) % 8) {
    case 0:
      return 0;
    case 1:
      return any % 16;
    case 2:
      return any % (1 << 20);
    case 3:
      return uint64_t{1} << any % 64;
    case 4:
      return ~(any % 4096);
    case 5:
      return (uint64_t)getppid() << 32 | (uint32_t)getpid();
    case 6:
      return any % 0x10000 * 4096;
    default:
      return any;
  }
}

void Write(unsigned char* base, uint64_t bytes, uint64_t* state) {
  auto* word = (volatile uint64_t*)(base + Next(state) % (bytes / 8) * 8);
  *word = Value(state);
}

void WriteRegion(unsigned char* base, const RegionHeader& layout, uint64_t* state) {
  const uint64_t which = Next(state) % (2 * kTableCount);
  if (which >= kTableCount) return Write(base, sizeof(RegionHeader), state);
  const TableInfo& table = layout.tables[which];
  const uint64_t bytes = uint64_t{table.capacity} * table.record_bytes;
  Write(base + table.offset, bytes < kTableBytes ? bytes & ~7ull : kTableBytes, state);
}

void* Scribble(void* number) {
  uint64_t state = g_seed * 1000 + (uintptr_t)number;
  auto* header = (ChildrenHeader*)g_area;
  while (!g_stop) {
    if (g_write_area && g_area != nullptr) {
      Write(g_area, offsetof(ChildrenHeader, claims), &state);
      Write((unsigned char*)&header->claims[Next(&state) % kSlots], sizeof(ChildClaim), &state);
      header->claimed.fetch_add(1);
    }
    if (!g_write_region) continue;
    WriteRegion(g_region, g_own, &state);
    if (g_area != nullptr) {
      const auto slot = (uint32_t)(Next(&state) % kSlots);
      WriteRegion(g_area + g_layout.OffsetOf(slot) + kPageBytes, g_childs, &state);
    }
  }
  return nullptr;
}

// A region that looks as a child's does, in each of some slots, and another process's name on it.
void ClaimFor(uint32_t pid) {
  auto* header = (ChildrenHeader*)g_area;
  for (uint32_t slot = 1; slot < kSlots; ++slot) {
    auto* region = (RegionHeader*)(g_area + g_layout.OffsetOf(slot) + kPageBytes);
    LayOutRegion(*region, g_layout.region_budget);
    header->claims[slot].owner = pid;
    region->state = (uint32_t)TrackerState::kCounting;
    header->claimed.fetch_add(1);
  }
}

void Sleep(long ms) {
  const timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const char* what = arguments[1];
  const long ms = strtol(arguments[2], nullptr, 10);
  g_seed = strtoull(arguments[3], nullptr, 10);
  if (strcmp(arguments[3], "program") == 0) g_seed = (uint64_t)getpid();
  if (strcmp(arguments[3], "supervisor") == 0) g_seed = (uint64_t)getppid();
  g_write_area = strcmp(what, "area") == 0 || strcmp(what, "all") == 0;
  g_write_region = strcmp(what, "region") == 0 || strcmp(what, "all") == 0;
  void* volatile kept = malloc(1000);
  g_region = Mapped("memfd:memprof-region");
  if (g_region == nullptr) g_region = Mapped(".region");  // of --region
  g_area = Mapped("memfd:memprof-children");
  if (g_region == nullptr || kept == nullptr) return 3;
  memcpy((void*)&g_own, g_region, sizeof g_own);
  if (g_area != nullptr) g_layout = ((ChildrenHeader*)g_area)->layout;
  LayOutRegion(g_childs, g_layout.region_budget);
  for (int i = 0; i < 3; ++i) {
    if (fork() != 0) continue;
    kept = malloc(500);  // claims a slot
    pthread_t threads[2];
    if (strcmp(what, "claim") == 0) {
      ClaimFor((uint32_t)g_seed);
    } else {
      for (uintptr_t n = 0; n < 2; ++n) {
        pthread_create(&threads[n], nullptr, Scribble, (void*)(i * 10 + n));
      }
    }
    Sleep(ms);
    kill(getpid(), SIGKILL);
  }
  // Nothing of the tracker is called any more: it may not find its own tables again.
  for (int i = 0; i < 3; ++i) syscall(SYS_wait4, -1, nullptr, 0, nullptr);
  syscall(SYS_exit_group, 7);
}
