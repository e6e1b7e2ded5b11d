/* Is busy in two functions, long enough to be seen there. */
static volatile unsigned long sum;

__attribute__((noinline)) static void spin_inner(void)
{
    for (unsigned long i = 0; i < 100000; i++)
        sum += i;
}

__attribute__((noinline)) static void spin_outer(void)
{
    for (unsigned i = 0; i < 2000; i++)
        spin_inner();
}

int main(void)
{
    spin_outer();
    return 0;
}
