/* Trap 7: the call that ends caller() returns to the first byte of next(). */
__attribute__((noreturn, noinline)) void die(void)
{
    for (;;)
        __asm__ volatile("");
}

__attribute__((noinline)) void caller(void)
{
    __asm__ volatile("");
    die();
}

__attribute__((noinline)) int next(void)
{
    return 1;
}

int _start(void)
{
    caller();
    return next();
}
