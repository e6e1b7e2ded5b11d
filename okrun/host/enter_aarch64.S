/* int enter(uintptr_t function, void *stack_top, void *argument)                                              SPEC: RUN-6
 *
 * The host's stack pointer is kept in memory of the thread, not in a register that the image must preserve: an entry
 * written in assembly that does not preserve it still ends well. */
	.section .tbss, "awT", %nobits
	.p2align 3
host_sp:
	.zero	8

	.text
	.globl	enter
	.hidden	enter
	.type	enter, %function
	.p2align 4
enter:
	.cfi_startproc
	.cfi_undefined x30		/* debuggers end their backtraces here */
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-176]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mrs	x9, tpidr_el0
	add	x9, x9, #:tprel_hi12:host_sp, lsl #12
	ldr	x10, [x9, #:tprel_lo12_nc:host_sp]
	str	x10, [sp, #160]		/* of the call that this one is in, if any */
	mov	x10, sp
	str	x10, [x9, #:tprel_lo12_nc:host_sp]
	mov	sp, x1
	mov	x29, xzr		/* and so do those that follow frame pointers */
	mov	x9, x0
	mov	x0, x2
	blr	x9
	mrs	x9, tpidr_el0
	add	x9, x9, #:tprel_hi12:host_sp, lsl #12
	ldr	x10, [x9, #:tprel_lo12_nc:host_sp]
	mov	sp, x10
	ldr	x10, [sp, #160]
	str	x10, [x9, #:tprel_lo12_nc:host_sp]
	ldp	d14, d15, [sp, #144]
	ldp	d12, d13, [sp, #128]
	ldp	d10, d11, [sp, #112]
	ldp	d8, d9, [sp, #96]
	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #176
	ret
	.cfi_endproc
	.size	enter, . - enter

	.section .note.GNU-stack, "", %progbits
