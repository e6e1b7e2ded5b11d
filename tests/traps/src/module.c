/* Trap 44: a kernel module, which is a relocatable file of several sections. */
__attribute__((noinline, section(".init.text"))) int module_start(int n)
{
    __asm__ volatile(".fill 8, 1, 0x90");
    return n;
}

__attribute__((noinline)) int module_fault(int n)
{
    __asm__ volatile(".fill 10, 1, 0x90");
    return n;
}
