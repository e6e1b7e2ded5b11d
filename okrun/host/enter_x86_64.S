/* int enter(uintptr_t function, void *stack_top, void *argument)                                              SPEC: RUN-6
 *
 * The host's stack pointer is kept in memory of the thread, not in a register that the image must preserve: an entry
 * written in assembly that does not preserve it still ends well. */
	.section .tbss, "awT", @nobits
	.p2align 3
host_sp:
	.zero	8

	.text
	.globl	enter
	.hidden	enter
	.type	enter, @function
	.p2align 4
enter:
	.cfi_startproc
	.cfi_undefined rip		/* debuggers end their backtraces here */
	endbr64
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%fs:host_sp@tpoff	/* of the call that this one is in, if any */
	mov	%rsp, %fs:host_sp@tpoff
	mov	%rsi, %rsp
	xor	%ebp, %ebp		/* and so do those that follow frame pointers */
	mov	%rdi, %rax
	mov	%rdx, %rdi
	call	*%rax
	mov	%fs:host_sp@tpoff, %rsp
	pop	%fs:host_sp@tpoff
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.cfi_endproc
	.size	enter, . - enter

	.section .note.GNU-stack, "", @progbits
