// A program that replaces itself: the capture is that of its last image.
//
// SITE function=second_image line=@second peak=2000/1 leaked=2000/1 total=2000/1
// WHOLE peak=2000/1 leaked=2000/1 total=2000/1
#include <stdlib.h>
#include <unistd.h>

static void* volatile kept;

static void first_image(char* self) {
  kept = malloc(1000000);  // @first
  char* arguments[] = {self, "again", NULL};
  execv("/proc/self/exe", arguments);
}

static void second_image(void) {
  kept = malloc(2000);  // @second
}

int main(int argc, char** argv) {
  if (argc == 1) {
    first_image(argv[0]);
    return 1;
  }
  second_image();
  return 0;
}
