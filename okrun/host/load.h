/* The steps from a checked plan to a running image, in the order in which main.c takes them. */
#ifndef OKHOST_LOAD_H
#define OKHOST_LOAD_H

#include "host.h"

/* Is the open file the one that the plan was made from?                                       SPEC: PLAN-3, RI-5
 * Ensures: true when its device, inode, length and times are those of the plan. Signal-safe, errno aside. */
bool same_file(const struct plan_header *header, int fd);

/* Can this host run an image of such needs?                                                   SPEC: NOTE-4, BIND-2
 * Ensures: true, or false and *why names the version or the interface. */
bool bind_check(const struct plan *plan, struct refusal *why);

/* Reserve [lo, hi) and map every segment into it, writable ones still to be relocated.         SPEC: RUN-1, RUN-2
 * Ensures: true and *base is where lo lies, or false and *why says what the system refused. */
bool map_image(const struct plan *plan, int fd, uint8_t **base, struct refusal *why);

/* Find the run-time value of every dynamic symbol.                                            SPEC: BIND-3, BIND-5
 * Requires: values has room for symbol_count words.
 * Ensures:  true, or false and *why names the import that nothing answers. */
bool bind_symbols(const struct plan *plan, const uint8_t *base, uint64_t *values, struct refusal *why);

/* Write the final value of every relocated word.                                              SPEC: RUN-3
 * Requires: values are those of bind_symbols; no thread of the image runs.
 * Ensures:  true and every word is final, or false and *why names the entry at fault; those before it are written.
 * Never:    writes outside a writable segment, whatever the tables say: the file may have changed since its check. */
bool relocate(const struct plan *plan, uint8_t *base, const uint64_t *values, struct refusal *why);

/* Make the RELRO range read-only.                                                             SPEC: RUN-4 */
bool map_relro(const struct plan *plan, uint8_t *base, struct refusal *why);

/* Make a stack of size bytes, [*lo, *hi), with a page below it that faults.                    SPEC: RUN-6, NOTE-3 */
bool map_stack(uint64_t size, void **lo, void **hi, struct refusal *why);

/* Give a stack of map_stack() back. */
void unmap_stack(void *lo, void *hi);

/* Call a function of the image on a stack, with one argument, and return what it returns; the frame pointer is zero
 * below it, where backtraces end.
 * Requires: stack_top is a multiple of 16. What is called so may do the same with another stack. SPEC: RUN-6 */
int enter(uintptr_t function, void *stack_top, void *argument);

#endif
