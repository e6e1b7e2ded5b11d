/* Says "ready" in the phase "waiting", and waits for a signal. */
#include <openkal/prof.h>
#include <openkal/time.h>

#include "text.h"

static kal_u64 said;

int main(void)
{
    kal_prof_counter("said", 4, &said);
    kal_prof_phase("waiting", 7);
    said++;
    say("ready\n");
    for (;;)
        kal_time_sleep(3600000000000);
}
