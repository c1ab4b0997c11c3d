// Opens the libpython that it is given, and runs Python code in it, twice from the beginning: 100
// blocks of 5001 bytes each time, at line 2 of build().
#include <dlfcn.h>
#include <stdio.h>

static const char* const kCode =
    "def build():\n"
    "    return [bytearray(5000) for _ in range(100)]\n"
    "kept = build()\n";

int main(int count, char** arguments) {
  void* const library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "usage: late_interpreter LIBPYTHON\n");
    return 2;
  }
  void (*initialize)(void) = (void (*)(void))dlsym(library, "Py_Initialize");
  int (*run)(const char*) = (int (*)(const char*))dlsym(library, "PyRun_SimpleString");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "Py_FinalizeEx");
  for (int i = 0; i < 2; ++i) {
    initialize();
    if (run(kCode) != 0) return 1;
    if (finalize() != 0) return 1;
  }
  return 0;
}
