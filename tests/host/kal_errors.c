/* Prints the error that stands for each errno value from 0 on, a line each.                        SPEC: KAL-9 */
#include <stdio.h>

#include "kal/sys.h"

int main(void)
{
    for (int number = 0; number < 4096; number++)
        printf("%d\n", sys_error(number));
    return 0;
}
