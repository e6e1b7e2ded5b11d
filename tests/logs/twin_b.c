/* The other one; it is longer. */
#define here(name) __asm__ volatile(".globl " #name "\n" #name ": nop")

static __attribute__((noinline, noclone, used, aligned(16))) void twin(void)
{
    here(in_twin_b);
    __asm__ volatile(".skip 40, 0x90");
}

__attribute__((aligned(16))) void after_twin_b(void)
{
    twin();
}
