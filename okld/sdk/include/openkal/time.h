/* openkal.time: Clocks and sleep. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_TIME_H
#define OPENKAL_TIME_H

#include "types.h"

typedef kal_u64 kal_duration; /* A time in nanoseconds. */
#define KAL_TIME_PROP_WALL_AVAILABLE ((kal_uintptr)1<<0) /* There is a wall clock. */
#define KAL_TIME_PROP_MONOTONIC_SUSPENDS ((kal_uintptr)1<<1) /* The monotonic clock stands while the machine sleeps. */
#define KAL_TIME_PROP_SLEEP_PRECISE ((kal_uintptr)1<<2) /* A sleep is as exact as the monotonic clock. */

#ifdef __cplusplus
extern "C" {
#endif

/* Time since an arbitrary start; never goes back. */
kal_duration kal_time_monotonic(void);

/* Time since 1970-01-01 00:00 UTC. */
kal_duration kal_time_wall(void);

/* The step of the monotonic clock. */
kal_duration kal_time_monotonic_granularity(void);

/* Sleep at least this long. */
void kal_time_sleep(kal_duration ns);

/* KAL_TIME_PROP_ bits. */
kal_uintptr kal_time_props(void);

#ifdef __cplusplus
}
#endif

#endif
