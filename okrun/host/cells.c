#define _GNU_SOURCE /* pipe2 */
#include "cells.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void cells_open(struct cells *cells)
{
    int made[2];

    cells->ends[0] = cells->ends[1] = -1;
    if (pipe2(made, O_CLOEXEC) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        cells->ends[i] = made[i] > 2 ? made[i] : fcntl(made[i], F_DUPFD_CLOEXEC, 3);
        if (made[i] <= 2)
            close(made[i]);
    }
}

void cells_close(struct cells *cells)
{
    for (int i = 0; i < 2; i++) {
        if (cells->ends[i] >= 0)
            close(cells->ends[i]);
        cells->ends[i] = -1;
    }
}

/* Let cells through the pipe, from `from` on, and say whether all came. What came of them in part must not stay in the
 * pipe: the kernel moves what lies before an address that is not there. */
static bool pass(struct cells *cells, size_t from, size_t count)
{
    size_t bytes = count * sizeof cells->values[0];
    int parts = 0;
    ssize_t moved, got;

    for (size_t i = from; i < from + count; i++) {
        if (i > from && cells->at[i] == cells->at[i - 1] + 1)
            cells->parts[parts - 1].iov_len += sizeof cells->values[0];
        else
            cells->parts[parts++] = (struct iovec){(void *)(uintptr_t)cells->at[i], sizeof cells->values[0]};
    }
    do {
        moved = writev(cells->ends[1], cells->parts, parts);
    } while (moved < 0 && errno == EINTR);
    if (moved <= 0)
        return false;
    do {
        got = read(cells->ends[0], &cells->values[from], bytes);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)bytes;
}

void cells_read(struct cells *cells)
{
    size_t count = cells->count;
    bool all = count > 0 && pass(cells, 0, count);

    for (size_t i = 0; i < count; i++)
        cells->readable[i] = all || pass(cells, i, 1);
    cells->count = 0;
}
