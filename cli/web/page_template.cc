#include "cli/web/page_template.h"

#include <cstddef>

// The assembler reads the file, so that the compiler needn't parse a quarter of a megabyte of
// array. MEMPROF_PAGE_TEMPLATE is the bundled page's path (CMakeLists.txt).
asm(".pushsection .rodata,\"a\",@progbits\n"
    ".globl memprof_page_template_begin\n"
    ".hidden memprof_page_template_begin\n"
    "memprof_page_template_begin:\n"
    ".incbin \"" MEMPROF_PAGE_TEMPLATE
    "\"\n"
    ".globl memprof_page_template_end\n"
    ".hidden memprof_page_template_end\n"
    "memprof_page_template_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char memprof_page_template_begin[];
extern const char memprof_page_template_end[];
}

namespace memprof {

std::string_view PageTemplate() {
  return {memprof_page_template_begin,
          static_cast<size_t>(memprof_page_template_end - memprof_page_template_begin)};
}

}  // namespace memprof
