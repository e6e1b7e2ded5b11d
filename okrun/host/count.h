/* Counts and times of the image's calls, a block a thread. */
#ifndef OKHOST_COUNT_H
#define OKHOST_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_BUCKETS 64

struct call_stats {
    uint64_t count; /* calls that began */
    uint64_t ticks; /* of those that returned, in ticks of the clock */
    uint64_t max;   /* the longest, in ticks */
    uint64_t log2[CALL_BUCKETS]; /* calls by the logarithm of their nanoseconds, as SPEC 12.4 */
};

/* Add up what all threads, those that ended among them, have of a function; whether it was called at all.
 * Requires: index is a KAL_INDEX_ number. Signal-safe. */
bool count_total(size_t index, struct call_stats *total);

/* What a measured call costs more than the same call unmeasured, in nanoseconds, measured now.
 * Requires: clock_settle() was called. Signal-safe; it leaves no trace in the counts. SPEC: PROF-3 */
uint64_t count_overhead(bool calls);

/* Begin again at nothing, in a process whose only thread this is. */
void count_forget(void);

/* As measure_thread_new() and those after it. */
void *count_thread_new(void);
void count_thread_begin(void *counts);
void count_thread_end(void *counts);

/* In okhost-impl: have counts for the calling thread, which has none yet, until it ends. */
void count_thread_found(void);

#endif
