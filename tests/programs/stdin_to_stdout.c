// A filter: writes stdin in capitals to stdout, and a note to stderr at the end.
//
// SITE function=main line=@buffer peak=65536/1 leaked=0/0 total=65536/1
// WHOLE peak=65536/1 leaked=0/0 total=65536/1
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  char* buffer = malloc(65536);  // @buffer
  ssize_t n;
  while ((n = read(0, buffer, 65536)) > 0) {
    for (ssize_t i = 0; i < n; ++i) buffer[i] = (char)toupper(buffer[i]);
    for (ssize_t done = 0; done < n;) {
      ssize_t w = write(1, buffer + done, (size_t)(n - done));
      if (w <= 0) return 1;
      done += w;
    }
  }
  free(buffer);
  return write(2, "done\n", 5) == 5 ? 0 : 2;
}
