/* The names of all of an image's code at once, for who has many addresses to name or all of them.
 *
 * Every address of an executable segment has here the name that names.h gives it. Signal-safe, all of it, errno aside:
 * memory comes from mmap(). */
#ifndef OKHOST_CODE_H
#define OKHOST_CODE_H

#include "symtab.h"

/* Link addresses [start, end) with one name, which begins at a byte of the string table. */
struct code_range {
    uint64_t start, end;
    uint32_t name;
};

struct code {
    struct symtab table;
    struct code_range *ranges; /* ascending; none is empty, none overlap */
    size_t count;
    size_t room; /* of ranges, in bytes */
};

/* Read the names of a plan's image.
 * Ensures:  true; false and *reason says why there are none, in words. */
bool code_read(struct code *code, const struct plan *plan, int fd, const char **reason);

/* The range that holds a link address, or null. */
const struct code_range *code_find(const struct code *code, uint64_t address);

/* Copy up to cap bytes of a range's name; the length of all of it. */
size_t code_name(struct code *code, const struct code_range *range, char *out, size_t cap);

/* Give the memory back; a code that could not be read has none. */
void code_free(struct code *code);

#endif
