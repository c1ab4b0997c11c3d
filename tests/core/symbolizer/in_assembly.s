# void InAssembly(const char* label, void (*here)(const char*)): code with lines, but no function in
# the debug info.
        .text
        .globl  InAssembly
        .type   InAssembly, @function
InAssembly:
        subq    $8, %rsp
        call    *%rsi           # line: assembly
        addq    $8, %rsp
        ret
        .size   InAssembly, .-InAssembly
        .section .note.GNU-stack,"",@progbits
