/* Begins 200 phases, and returns 4 at the end of its input. */
#include <openkal/prof.h>

#include "text.h"

int main(void)
{
    char byte;

    for (int i = 0; i < 200; i++)
        kal_prof_phase("a phase of a longer name", 24);
    while (kal_stream_read(kal_stdin(), &byte, 1) > 0)
        ;
    return 4;
}
