// The constructor runs in dlopen, with the loader's lock held, and does what the program says.
void constructor_waits(void);

__attribute__((constructor)) static void on_load(void) { constructor_waits(); }
