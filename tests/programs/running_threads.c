// Threads that still run when the program ends, a thread that has ended, and a thread that counts in
// the slot of the one that has ended.
//
// Two living threads start first, and have slots of their own. The third thread ends; the fourth
// one takes its slot, and lives, too. All four leave a block at one stack, so that it isn't of
// living threads alone. Main frees one of the two blocks that living threads gave it.
//
// CASE name=return  args=return  status=3    end=exit:3
// CASE name=_exit   args=_exit   status=5    end=exit:5
// CASE name=thread  args=thread  status=7    end=exit:7
// CASE name=term    args=term    status=143  end=signal:15
// CASE name=kill    args=kill    status=137  end=signal:9
// SITE function=living line=@living peak=600/6 leaked=600/6 total=600/6 running=600/6
// SITE function=given line=@given peak=100/2 leaked=50/1 total=100/2 running=50/1
// SITE function=by_all line=@by_all peak=40/4 leaked=40/4 total=40/4 running=0/0
// SITE function=ended line=@ended peak=7/1 leaked=7/1 total=7/1 running=0/0
// SITE function=in_its_slot line=@in_its_slot peak=30/1 leaked=30/1 total=30/1 running=0/0
// SITE function=mains line=@mains peak=5/1 leaked=5/1 total=5/1 running=0/0
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum { kLiving, kEnded, kInItsSlot } Part;

static sem_t ready, leave;
static void* volatile gift;

static void* living(void) {
  return malloc(100);  // @living
}

static void* given(void) {
  return malloc(50);  // @given
}

static void* by_all(void) {
  return malloc(10);  // @by_all
}

static void* ended(void) {
  return malloc(7);  // @ended
}

static void* in_its_slot(void) {
  return malloc(30);  // @in_its_slot
}

static void* mains(void) {
  return malloc(5);  // @mains
}

static void* work(void* part) {
  by_all();
  switch (*(Part*)part) {
    case kLiving:
      for (int i = 0; i < 3; ++i) living();
      gift = given();
      break;
    case kEnded:
      ended();
      return NULL;
    case kInItsSlot:
      in_its_slot();
      break;
  }
  sem_post(&ready);
  sem_wait(&leave);
  exit(7);
}

static void start(Part* part) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, part) != 0) _exit(2);
  if (*part == kEnded) {
    pthread_join(thread, NULL);
  } else {
    sem_wait(&ready);
  }
}

int main(int argc, char** argv) {
  static Part parts[] = {kLiving, kLiving, kEnded, kInItsSlot};
  if (argc != 2) return 1;
  sem_init(&ready, 0, 0);
  sem_init(&leave, 0, 0);
  mains();
  for (int i = 0; i < 4; ++i) start(&parts[i]);
  free(gift);
  const char* way = argv[1];
  if (strcmp(way, "return") == 0) return 3;
  if (strcmp(way, "_exit") == 0) _exit(5);
  if (strcmp(way, "term") == 0) kill(getpid(), SIGTERM);
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "thread") == 0) sem_post(&leave);
  for (;;) pause();
}
