/* Traps 8 and 9: Thumb functions, whose symbols have bit 0 set, among mapping symbols. */
int counter = 5;

__attribute__((noinline)) int helper(int n)
{
    counter += n;
    return counter * n;
}

int _start(void)
{
    return helper(3);
}
