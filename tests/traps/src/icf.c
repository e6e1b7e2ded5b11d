/* Trap 5: two functions of the same code, which the linker may fold into one. */
__attribute__((noinline)) int a1(int n)
{
    return n * 7 + 3;
}

__attribute__((noinline)) int a2(int n)
{
    return n * 7 + 3;
}

int _start(void)
{
    return a1(1) + a2(2);
}
