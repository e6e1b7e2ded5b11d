/* What the image takes from the heap: every kal_alloc and kal_free of it, with the way there. */
#ifndef OKHOST_HEAP_H
#define OKHOST_HEAP_H

#include "json.h"

/* What an import is to be bound to where the heap is measured: for kal_alloc and kal_free functions that note the block
 * and call `function`, for any other name `function` itself.                                     SPEC: HEAP-1 */
void *heap_entry(const char *name, void *function);

/* Begin to note blocks, with none: what was noted before is forgotten.
 * Requires: the clock has begun; this thread is the only one of the image, or of a copy of it. */
void heap_begin(void);

/* Postpone a signal that has come while the calling thread changes the book.
 * Ensures:  true, and it comes again when the book is whole; false when the thread is at nothing of the kind.
 *           Signal-safe.                                                                         SPEC: HEAP-6 */
bool heap_postpone(int signal_number);

/* Write dhat-heap-<id>.json into a directory, and the value of the report's key `heap`.
 * Requires: clock_settle() was called; SIGPIPE and SIGXFSZ are blocked.
 * Ensures:  the file is whole, or there is none, and one line says why; the value says which.
 * Never:    waits for a task that does not go on. Signal-safe.                     SPEC: HEAP-4 to HEAP-7 */
void heap_write(struct json *report, int directory, const char *id);

#endif
