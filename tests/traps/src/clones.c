/* Trap 23: a function whose only copy is specialised for its arguments. */
volatile int sink;

__attribute__((noinline)) static int specialised(int n, int unused, int always)
{
    (void)unused;
    sink = n;
    return n + always;
}

int _start(void)
{
    return specialised(sink, sink, 5) + specialised(sink + 1, 3, 5);
}
