/* Trap 45: see lto_one.c. */
int from_two(int n)
{
    __asm__ volatile("in_two: nop");
    return n + 1;
}
