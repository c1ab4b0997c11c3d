// The ELF header of the library that this is linked into, at its loaded address; the linker defines
// the name.
#pragma once

#include <link.h>

extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;
