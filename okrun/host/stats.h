/* The calls of one function: of a thread, of all threads, or of a phase. */
#ifndef OKHOST_STATS_H
#define OKHOST_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

#define CALL_BUCKETS 64

struct call_stats {
    uint64_t count;   /* calls that began */
    uint64_t entered; /* twice those whose time is entered here; odd while one's is being entered */
    uint64_t ticks;   /* of those, in ticks of the clock */
    uint64_t max;     /* the longest, in ticks */
    uint64_t log2[CALL_BUCKETS]; /* calls by the logarithm of their nanoseconds, as SPEC 12.4 */
};

/* Add to *to what *now has more than *before; max is left alone. */
void stats_add(struct call_stats *to, const struct call_stats *now, const struct call_stats *before);

/* Write the keys from `count` to `log2_ns` of a report; times are null where none were taken. Signal-safe. */
void stats_write(struct json *json, const struct call_stats *stats, bool timed);

#endif
