# Trap 37: a row for line 0 in the middle of a function.
	.file "line0.c"
	.text
	.globl zero
	.type zero, @function
zero:
	.file 1 "line0.c"
	.loc 1 7
	nop
	.loc 1 0
	nop
	.loc 1 9
	nop
	.size zero, .-zero

	.section .debug_abbrev, "", @progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x10, 0x17, 0x11, 1, 0x12, 6, 0x3, 8, 0x1b, 8, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x3, 8, 0x11, 1, 0x12, 6, 0, 0
	.byte 0
	.section .debug_info, "", @progbits
	.long 2f-1f
1:	.short 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.long .debug_line
	.quad zero
	.long 3
	.asciz "line0.c", "/src"
	.uleb128 2
	.asciz "zero"
	.quad zero
	.long 3
	.byte 0
2:
	.section .debug_line, "", @progbits
