/* Trap 43: see dup_one.c. */
__attribute__((noinline)) static void dup(void)
{
    __asm__ volatile(".fill 24, 1, 0x90");
}

void entry_two(void)
{
    dup();
    __asm__ volatile("");
}
