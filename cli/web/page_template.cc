#include "cli/web/page_template.h"

#include <cstddef>

// The assembler reads the file, so that the compiler needn't parse a quarter of a megabyte of
// array. The paths of the bundled pages are from CMakeLists.txt.
#define MEMPROF_INCLUDE_FILE(name, path)       \
  asm(".pushsection .rodata,\"a\",@progbits\n" \
      ".globl memprof_" name                   \
      "_begin\n"                               \
      ".hidden memprof_" name                  \
      "_begin\n"                               \
      "memprof_" name                          \
      "_begin:\n"                              \
      ".incbin \"" path                        \
      "\"\n"                                   \
      ".globl memprof_" name                   \
      "_end\n"                                 \
      ".hidden memprof_" name                  \
      "_end\n"                                 \
      "memprof_" name                          \
      "_end:\n"                                \
      ".byte 0\n"                              \
      ".popsection\n")

MEMPROF_INCLUDE_FILE("page_template", MEMPROF_PAGE_TEMPLATE);
MEMPROF_INCLUDE_FILE("diff_page_template", MEMPROF_DIFF_PAGE_TEMPLATE);

extern "C" {
extern const char memprof_page_template_begin[];
extern const char memprof_page_template_end[];
extern const char memprof_diff_page_template_begin[];
extern const char memprof_diff_page_template_end[];
}

namespace memprof {

std::string_view PageTemplate() {
  return {memprof_page_template_begin,
          static_cast<size_t>(memprof_page_template_end - memprof_page_template_begin)};
}

std::string_view DiffPageTemplate() {
  return {memprof_diff_page_template_begin,
          static_cast<size_t>(memprof_diff_page_template_end - memprof_diff_page_template_begin)};
}

}  // namespace memprof
