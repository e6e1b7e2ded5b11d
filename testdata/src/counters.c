/* counters: two phases, `load` and `work`, and two counters: `items`, which has two cells and ends at 1234, and
 * `bytes`, which ends at 4096. Prints `props ` and the word of kal_prof_props. Status 0, or the number of the call
 * whose answer was wrong:
 *
 *     1 to 3 a registration    4 to 6 a phase    7 a counter without a name was taken */

#include "say.h"
#include <openkal/image.h>

OPENKAL_IMAGE(KAL_IFACE_STREAM | KAL_IFACE_PROF, 0, 0)

int _start(void);

static kal_u64 here, there, bytes;

int _start(void)
{
    if (kal_prof_counter("items", 5, &here))
        return 1;
    if (kal_prof_counter("items", 5, &there))
        return 2;
    if (kal_prof_counter("bytes", 5, &bytes))
        return 3;
    if (kal_prof_phase("load", 4))
        return 4;
    for (int i = 0; i < 1000; i++)
        here++;
    bytes += 4096;
    if (kal_prof_phase("work", 4))
        return 5;
    there += 234;
    if (kal_prof_phase(0, 0))
        return 6;
    if (kal_prof_counter("", 0, &bytes) != kal_err_invalid)
        return 7;
    say("props ");
    say_number(kal_prof_props(), 10);
    say("\n");
    return 0;
}
