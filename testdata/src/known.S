/* Symbols whose addresses and sizes are known: `known` begins at 0x2001000, and nothing of it runs.
 *
 *     0x2001000  factorial, and its aliases fact (weak) and a_fact (local); 64 bytes
 *     0x2001010  inner, 16 bytes of them
 *     0x2001028  a label in the middle of factorial
 *     0x2001040  16 bytes of nobody
 *     0x2001050  open, without a size, up to the next symbol
 *     0x2001080  one, a single byte; 15 bytes of nobody after it
 *     0x2001090  under, and its alias __under; 16 bytes
 *     0x20010a0  tail, without a size, up to the end of the section at 0x20010b0 */

        .macro  known name, type, size
        .type   \name, %\type
        .size   \name, \size
\name:
        .endm

        .section .text.known, "ax"
        .globl  factorial
        .weak   fact
        known   a_fact, function, 64
        known   fact, function, 64
        known   factorial, function, 64
        .skip   16
        known   inner, function, 16
        .skip   24
        known   label, notype, 0
        .skip   24
        .skip   16
        known   open, function, 0
        .skip   48
        known   one, function, 1
        .skip   16
        .globl  __under
        .globl  under
        known   __under, function, 16
        known   under, function, 16
        .skip   16
        known   tail, notype, 0
        .skip   16

        .section .note.GNU-stack, "", %progbits
