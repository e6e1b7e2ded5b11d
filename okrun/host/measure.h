/* Measuring: what is taken while the image runs, and the one report at its end. */
#ifndef OKHOST_MEASURE_H
#define OKHOST_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

enum end_by { END_RETURN, END_EXIT, END_ABORT, END_SIGNAL };

/* Begin to measure.
 * Requires: before any code of the image runs, once; host_image is set; what is a set of enum plan_measure bits.
 * Ensures:  with what 0 nothing at all. Else the report is begun in the plan's directory, which is made where it is
 *           absent; where that cannot be, one line says so, and there will be no report.
 * SPEC: PROF-1, PROF-4, REP-4 */
void measure_begin(unsigned what);

/* Measure a copy of the process, which begins now, in a report of its own.
 * Requires: it is called in the copy, by its only thread. */
void measure_copied(void);

/* What is measured now: enum plan_measure bits, 0 for nothing. */
unsigned measure_what(void);

/* Nanoseconds since measure_begin(). */
uint64_t measure_elapsed(void);

/* Counts for a thread that the image is about to start.
 * Requires: what new gave, begin takes in the thread before its entry, and end after it, or where it could not start.
 *           The first thread does none of it.
 * Ensures:  new: null where there is no memory: such a thread must not start, its calls would be lost. */
void *measure_thread_new(void);
void measure_thread_begin(void *counts);
void measure_thread_end(void *counts);

/* Write the report.
 * Requires: the process is about to end, as said: status is what a shell would show, signal_number is 0 for none.
 *           The finalisers of the image have run, if they are to run, so that their calls are in it.
 * Ensures:  the report is written, or one line says why not. The first caller writes; another thread waits for it, and
 *           then a moment for the process to end as the report says; a signal handler above the writer returns at once.
 *           The thread that has written has every signal blocked but those of a fault, which may also be sent.
 * Never:    allocates, takes a lock, needs more than a little of the caller's stack, or changes how the process ends.
 *           Signal-safe.                                                           SPEC: REP-2, PROF-4 */
void measure_end(enum end_by by, int status, int signal_number);

/* Whether the calling thread writes, or has written, that the process ends otherwise than by this signal. Signal-safe. */
bool measure_tells_other(int signal_number);

#endif
