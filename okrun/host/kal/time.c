/* openkal.time. */
#include <errno.h>
#include <openkal/time.h>
#include <stdint.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static kal_duration nanoseconds(const struct timespec *t)
{
    return (kal_duration)t->tv_sec * SECOND + (kal_duration)t->tv_nsec;
}

static kal_duration now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return nanoseconds(&t);
}

kal_duration kal_time_monotonic(void)
{
    return now(CLOCK_MONOTONIC);
}

kal_duration kal_time_wall(void)
{
    return now(CLOCK_REALTIME);
}

kal_duration kal_time_monotonic_granularity(void)
{
    struct timespec t;

    clock_getres(CLOCK_MONOTONIC, &t);
    return nanoseconds(&t);
}

/* Sleep at least ns nanoseconds.
 * Ensures:  it is over only when the time has passed: the end is a point in time, so that no interruption adds to it
 *           or takes from it; a time past the end of the clock is the end of the clock. SPEC: KAL-5 */
void kal_time_sleep(kal_duration ns)
{
    kal_duration start = kal_time_monotonic();
    kal_duration end = ns > UINT64_MAX - start ? UINT64_MAX : start + ns;
    struct timespec until = {.tv_sec = (time_t)(end / SECOND), .tv_nsec = (long)(end % SECOND)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* CLOCK_MONOTONIC of Linux stands while the machine sleeps; its timers have its own resolution. */
kal_uintptr kal_time_props(void)
{
    return KAL_TIME_PROP_WALL_AVAILABLE | KAL_TIME_PROP_MONOTONIC_SUSPENDS | KAL_TIME_PROP_SLEEP_PRECISE;
}
