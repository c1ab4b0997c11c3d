// The ELF header of the library that this is linked into, where the loader put it; by the name that
// the linker gives it.
#pragma once

#include <link.h>

extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;
