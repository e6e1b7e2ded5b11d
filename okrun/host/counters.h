/* What the program registers to be measured: counters, and the phases of its run. */
#ifndef OKHOST_COUNTERS_H
#define OKHOST_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

#define COUNTER_NAME_MOST 255

/* Prepare to read cells at the end.
 * Ensures:  two descriptors are set aside, above 2, so that a program that has used up its own loses nothing. */
void counters_begin(void);

/* Keep what is registered, forget the phases, and set descriptors of its own aside: in a copy of the process. */
void counters_copied(void);

/* Register a cell under a name; again the same under the same name is nothing new.
 * Requires: 1 <= length <= COUNTER_NAME_MOST; cell is not null.
 * Ensures:  true; false where there is no memory.                  SPEC: RI-1 */
bool counters_add(const char *name, size_t length, const uint64_t *cell);

/* End the phase before, and begin one of this name unless length is 0.
 * Requires: length <= COUNTER_NAME_MOST.
 * Ensures:  true; false where there is no memory: then the phase before goes on. SPEC: RI-3 */
bool counters_phase(const char *name, size_t length);

/* Read every cell, and give the descriptors back.
 * Never:    reads a cell itself, takes a lock, or allocates. Signal-safe. SPEC: RI-1, RI-2 */
void counters_read(void);

/* Write the keys `counters`, `phases` and `lost` of a report that ends now.
 * Requires: counters_read() was called. Signal-safe.               SPEC: RI-1, RI-2, RI-3 */
void counters_write(struct json *json, uint64_t now);

#endif
