/* Trap 33: a second program, which shares what inlined.h says. */
#include "inlined.h"

__attribute__((noinline)) int another(int n)
{
    MARK(in_another);
    return middle(n) + 2;
}

int _start(void)
{
    return another(5);
}
