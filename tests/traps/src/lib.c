/* Traps 10, 13, 15 to 18, 22: a library with versions, an IFUNC, imports and hidden functions. */
int puts(const char *);
int getchar(void);

__attribute__((noinline)) static int hidden_static(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n * 3;
}

static int chosen(int n)
{
    return n + 1;
}

static int (*resolve(void))(int)
{
    return chosen;
}

int ifn(int) __attribute__((ifunc("resolve")));

__attribute__((noinline)) int exported(int n)
{
    puts("exported");
    return hidden_static(n) + getchar();
}

int (*taken(void))(void)
{
    return getchar;
}

__asm__(".symver old_foo, foo@V1");
__asm__(".symver new_foo, foo@@V2");

int old_foo(int n)
{
    return n + 1;
}

int new_foo(int n)
{
    return n + 2;
}
