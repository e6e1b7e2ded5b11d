/* Names for addresses of the image, from its own file, by the rules of SPEC chapter 6. */
#ifndef OKHOST_NAMES_H
#define OKHOST_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct plan;

/* Find the symbol that holds a run-time address of the image.
 * Requires: host_image is set.
 * Ensures:  1 when there is one: *length is the length of its name, out[0 .. min(cap, *length)) holds it (no NUL is
 *           added), *offset is the distance of the address from the symbol; else 0, and nothing is written.
 * Never:    allocates, locks, or changes errno: it may be called from a signal handler. SPEC: SYM-1 to SYM-7, RI-5 */
int names_lookup(uintptr_t run_time_address, char *out, size_t cap, size_t *length, uint64_t *offset);

/* The same for a link address, of any plan and open file.
 * Ensures:  as above; also 0 when fd is no longer the file that the plan was made from. */
int names_lookup_link(const struct plan *plan, int fd, uint64_t address, char *out, size_t cap, size_t *length,
                      uint64_t *offset);

#endif
