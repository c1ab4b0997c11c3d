#include <stddef.h>

void* mallocx(size_t size, int flags);

int main(void) { return mallocx(1, 0) == 0; }
