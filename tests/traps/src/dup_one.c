/* Trap 43: two functions of one name and of different sizes; see dup_two.c. */
void entry_two(void);

__attribute__((noinline)) static void dup(void)
{
    __asm__ volatile(".fill 8, 1, 0x90");
}

void _start(void)
{
    dup();
    entry_two();
    __asm__ volatile("");
}
