/* The counters that the program registers. */
#ifndef OKHOST_COUNTERS_H
#define OKHOST_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

#define COUNTER_NAME_MOST 255

/* What one counter grew by in the phases of one name. */
struct growth;

/* Prepare to read cells.
 * Ensures:  descriptors are set aside, above 2, so that a program that has used up its own loses nothing. */
void counters_begin(void);

/* Keep what is registered, and count from here: in a copy of the process, by its only thread. SPEC: RI-9 */
void counters_copied(void);

/* Register a cell under a name; again the same under the same name is nothing new.
 * Requires: 1 <= length <= COUNTER_NAME_MOST; cell is not null.
 * Ensures:  true; false where there is no memory.                  SPEC: RI-1 */
bool counters_add(const char *name, size_t length, const uint64_t *cell);

/* Make the change after `change`, in two steps: see what every counter has grown by since, and have room in a list for
 * it, unless list is null; then put it down. goes_on: a phase begins.
 * Requires: kept_lock is held.
 * Ensures:  the first: true; false where there is no memory, and nothing is changed. */
bool counters_take(struct growth **list, uint64_t change);
void counters_put_down(struct growth **list, uint64_t change, bool goes_on);

/* Read every cell for what is written: since the start, and since a change.
 * Never:    reads a cell itself, takes a lock, or allocates. Signal-safe. SPEC: RI-1, RI-2 */
void counters_end(uint64_t change);

/* Write lists of what was registered when counters_end() was called: all; those that grew, by a list at a change and, in
 * the phase that goes on, since; and the names of those that could not be read whole. Signal-safe. */
void counters_write(struct json *json);
void counters_write_growth(struct json *json, struct growth *const *list, uint64_t change, bool goes_on);
void counters_write_lost(struct json *json);

#endif
