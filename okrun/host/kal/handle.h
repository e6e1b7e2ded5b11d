/* Handles: the words that stand for a descriptor of this process.
 *
 *   word = cookie (40 bits) | slot (16 bits) | kind (8 bits)
 *
 * The cookie is random and never 0, so that neither a small number nor a word of another run is a handle. A word is
 * valid while it is what its slot holds: it is compared whole and never followed.                SPEC: KAL-1 */
#ifndef OKHOST_KAL_HANDLE_H
#define OKHOST_KAL_HANDLE_H

#include <openkal/types.h>

enum handle_kind { HANDLE_STREAM = 1 };

/* The handle of standard stream fd, the same at every call.
 * Requires: 0 <= fd <= 2. */
kal_uintptr handle_standard(int fd);

/* The descriptor that word stands for, or -1 where it was never issued as a handle of that kind. */
int handle_descriptor(enum handle_kind kind, kal_uintptr word);

#endif
