/* The implementation of the surface that images are bound to: okhost's own (kal/), or in okhost-impl that of a library
 * (impl/). prof and debug are the runner's in both. */
#ifndef OKHOST_IMPLEMENTATION_H
#define OKHOST_IMPLEMENTATION_H

#include <stdbool.h>
#include <stdint.h>

/* Find the implementation, and take from the command line what is its own.
 * Ensures:  host_bindings has its functions, and kal_version(), kal_interfaces() and kal_exit() answer for it; what is
 *           no implementation ends the process with one line.                          SPEC: IMPL-1, IMPL-2, IMPL-7 */
void implementation_load(int *argc, char ***argv);

/* Tell it of the image.
 * Requires: host_image and the first task's stack are there; no code of the image has run.       SPEC: IMPL-4 */
void implementation_begin(void);

/* Whether a run-time address is in code that came with a library. Signal-safe. */
bool implementation_has_code(uint64_t address);

#endif
