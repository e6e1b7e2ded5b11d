/* Trap 40: functions of a Mach-O library, whose symbols begin with an underscore. */
int outside(int);

__attribute__((noinline)) static int hidden(int n)
{
    return n * 3;
}

int mainf(int n)
{
    return hidden(n) + outside(n);
}
