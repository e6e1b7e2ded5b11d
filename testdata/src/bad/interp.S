/* The name of an interpreter. */
        .section .interp, "a"
        .asciz  "/lib64/ld-linux-x86-64.so.2"
        .section .note.GNU-stack, "", %progbits
