// Trap 34: dead() is in both files; the linker keeps nothing of it. It is longer than all addresses
// up to where code begins, if it is taken to lie at 0.
inline int dead(int n)
{
    __asm__ volatile(".fill 0x2000, 1, 0x90");
    return n + 1;
}

extern int (*volatile never)(int);

extern "C" void keep_alive_once(void)
{
    never = dead;
}

extern "C" __attribute__((noinline)) int live(int n)
{
    __asm__ volatile("in_live: nop");
    return n * 2;
}

extern "C" int _start(void)
{
    return live(3);
}
