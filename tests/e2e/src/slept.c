/* Sleeps three times, and says how long that took by the clock that it sees from outside. */
#include <openkal/prof.h>
#include <openkal/time.h>

#include "text.h"

int main(void)
{
    kal_duration slept = 0;

    kal_prof_phase("asleep", 6);
    for (int i = 0; i < 3; i++) {
        kal_duration from = kal_time_monotonic();

        kal_time_sleep(400000000);
        slept += kal_time_monotonic() - from;
    }
    say_number(slept);
    return 0;
}
