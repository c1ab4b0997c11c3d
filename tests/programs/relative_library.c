// Not a known answer of its own: loads plugin_one by the given name, leaves the directory, with a
// second argument deletes the file of that path, and makes the plugin allocate (module_names_test).
#include <dlfcn.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void (*leak)(void) = handle != NULL ? (void (*)(void))dlsym(handle, "plugin_one_leaks") : NULL;
  if (leak == NULL || chdir("/") != 0) return 1;
  if (argc > 2 && unlink(argv[2]) != 0) return 2;
  leak();
  return 0;
}
