// Its constructor runs in dlopen, with the loader's lock held, and runs the program's callback.
void constructor_waits(void);

__attribute__((constructor)) static void on_load(void) { constructor_waits(); }
