/* What makes a host program one in a storm: from before its first line on, a signal interrupts it every millisecond. */
#include "interrupt.h"

__attribute__((constructor)) static void begin_storm(void)
{
    interrupt(true);
}
