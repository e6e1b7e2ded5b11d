/* Counts and times of the image's calls, a block a thread. */
#ifndef OKHOST_COUNT_H
#define OKHOST_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats.h"

/* Whether calls of a function began or returned since it had this of it. */
bool count_moved(size_t index, const struct call_stats *since);

/* Add up what all threads, those that ended among them, have of a function, and begin the longest call anew.
 * Requires: one thread does so at a time.
 * Ensures:  total, but for max; no call is half in it: one that is being entered is waited for. *most is not less than
 *           the longest call that was in no block before; it is raised before a block lets go of it. */
void count_take(size_t index, struct call_stats *total, uint64_t *most);

/* Add up what all threads have of every function, as it is now, for the three below.
 * Ensures:  max is that of calls since the last count_take(). A call that is being entered by a thread that does not run
 *           may be in the ticks and not in the histogram. Signal-safe. */
void count_end(void);

const struct call_stats *count_ended(size_t index);

/* The longest call of all, in ticks. Signal-safe. */
uint64_t count_longest(size_t index);

/* How many threads have had counts; of those in okhost-impl that make no measured call nobody knows. Signal-safe. */
uint64_t count_threads(void);

/* What a measured call costs more than the same call unmeasured, in tenths of nanoseconds, measured now.
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
