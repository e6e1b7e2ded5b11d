/* Trap 45: across units, a function of lto_two.c is inlined here. */
int from_two(int n);

int _start(void)
{
    __asm__ volatile("" : : : "memory");
    return from_two(4);
}
