/* The phases of a program's run, and what of its calls and counters falls into those of each name. */
#ifndef OKHOST_PHASES_H
#define OKHOST_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

#define PHASES_MOST 100000u     /* that a report lists one by one */
#define PHASE_NAMES_MOST 4096u

/* End the phase that goes on, whoever began it, and begin one of this name unless length is 0.
 * Requires: length <= COUNTER_NAME_MOST.
 * Ensures:  true; false where there is no memory, or the name is one too many: then the phase before goes on.
 * SPEC: RI-3, PROF-6 */
bool phases_change(const char *name, size_t length);

/* Forget all phases: in a copy of the process, by its only thread, before counters_copied(). */
void phases_forget(void);

/* Let the process end: what is written is of now, and of the last change that is whole.
 * Ensures:  the time since the start; count_end() and counters_end() were called.
 * Never:    takes a lock, or allocates. Signal-safe. */
uint64_t phases_end(void);

/* Write the keys `phases`, `phases_left_out` and `phase_totals` of a report that ends at a time since the start.
 * Requires: phases_end() was called. Signal-safe. */
void phases_write(struct json *json, uint64_t now);

#endif
