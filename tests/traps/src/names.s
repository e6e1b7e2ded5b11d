# Traps 1 to 6, 12 to 14: symbols whose places a person can count.
	.text
	.globl _start
	.type _start, @function
_start:
	.fill 4, 1, 0x90
	.size _start, .-_start
	.p2align 6, 0xcc

	.type outer, @function
outer:
	.fill 4, 1, 0x90
inner_label:
	.fill 12, 1, 0x90
	.size outer, .-outer

	.type nest, @function
nest:
	.fill 8, 1, 0x90
	.type nest_in, @function
nest_in:
	.fill 8, 1, 0x90
	.size nest_in, .-nest_in
	.fill 9, 1, 0x90
	.size nest, .-nest

	.type asmf, @function
asmf:
	.fill 8, 1, 0x90

	.weak aa_weak
	.globl mm_global
	.type zz_local, @function
	.type aa_weak, @function
	.type mm_global, @function
zz_local:
aa_weak:
mm_global:
	.fill 8, 1, 0x90
	.size zz_local, 8
	.size aa_weak, 8
	.size mm_global, 8

	.globl ga, gb
	.type ga, @function
	.type gb, @function
ga:
gb:
	.fill 8, 1, 0x90
	.size ga, 8
	.size gb, 8

	.type tbl, @object
tbl:
	.long 1, 2, 3, 4
	.size tbl, .-tbl

	.globl last
	.type last, @function
last:
	.fill 3, 1, 0x90
	.size last, .-last
	.fill 5, 1, 0xcc
