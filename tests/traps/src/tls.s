# Trap 11: the offset of a thread-local symbol is the address of a function.
	.text
	.globl code
	.type code, @function
	.fill 16, 1, 0x90
code:
	.fill 16, 1, 0x90
	.size code, .-code

	.section .tdata, "awT", @progbits
	.globl tls_var
	.type tls_var, @object
	.fill 16
tls_var:
	.fill 16
	.size tls_var, 16
