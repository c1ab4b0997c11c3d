# void InAssembly(const char* label, void (*here)(const char*)): code with lines, but no function in
# the debug info.
        .text
        .globl  InAssembly
        .type   InAssembly, @function
InAssembly:
        subq    $8, %rsp
InsideAssembly:                 # a label, no function
        call    *%rsi           # line: assembly
        addq    $8, %rsp
        ret
        .size   InAssembly, .-InAssembly

# The same without a size: it reaches up to the next symbol.
        .globl  InUnsizedAssembly
InUnsizedAssembly:
        subq    $8, %rsp
        call    *%rsi           # line: unsized assembly
        addq    $8, %rsp
        ret
        .section .note.GNU-stack,"",@progbits
