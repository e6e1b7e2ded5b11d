// Trap 34: see gc_one.cc.
inline int dead(int n)
{
    __asm__ volatile(".fill 0x2000, 1, 0x90");
    return n + 1;
}

int (*volatile never)(int);

extern "C" void keep_alive_twice(void)
{
    never = dead;
}
