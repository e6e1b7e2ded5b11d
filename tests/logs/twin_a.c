/* One of two static functions of one name, in two files. */
#define here(name) __asm__ volatile(".globl " #name "\n" #name ": nop")

static __attribute__((noinline, noclone, used, aligned(16))) void twin(void)
{
    here(in_twin_a);
}

__attribute__((aligned(16))) void after_twin_a(void)
{
    twin();
}
