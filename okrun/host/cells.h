/* Cells, read by the kernel, which says that one is not there where a load would be a crash. */
#ifndef OKHOST_CELLS_H
#define OKHOST_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define CELLS_MOST 512u /* that are read at once: a page, which any pipe has room for */

/* A pipe that cells are read through, by one reader at a time. */
struct cells {
    int ends[2];
    size_t count;
    const uint64_t *at[CELLS_MOST];
    struct iovec parts[CELLS_MOST]; /* cells that lie one after the other are one */
    uint64_t values[CELLS_MOST];
    bool readable[CELLS_MOST];
};

/* Set a pipe aside, above 2; without one no cell is readable. */
void cells_open(struct cells *cells);
void cells_close(struct cells *cells);

/* Read at[0 .. count), each a word.
 * Requires: at has addresses.
 * Ensures:  readable says which were, values what those held; count is 0.
 * Never:    touches a cell itself, takes a lock, allocates, or waits. Signal-safe.       SPEC: RI-2 */
void cells_read(struct cells *cells);

#endif
