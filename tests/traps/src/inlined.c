/* Two levels of inlining, for the traps of debug information. */
#include "inlined.h"

__attribute__((noinline)) int outermost(int n)
{
    MARK(in_outermost);
    return middle(n) + 1;
}

int _start(void)
{
    return outermost(4);
}
