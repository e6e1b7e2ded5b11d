/* Traps 41 and 42: a Windows library with an export, a forwarder and functions of its own. */
__asm__(".text\n.fill 16, 1, 0x90");

__attribute__((noinline)) static int hidden(int n)
{
    return n * 3;
}

__declspec(dllexport) int exported(int n)
{
    return hidden(n) + 1;
}

int _start(void *module, unsigned reason, void *reserved)
{
    (void)module;
    (void)reserved;
    return hidden((int)reason);
}
