#define _GNU_SOURCE /* pipe2 */
#include "cells.h"

#include <fcntl.h>
#include <unistd.h>

void cells_open(struct cells *cells)
{
    int made[2];

    cells->ends[0] = cells->ends[1] = -1;
    if (pipe2(made, O_CLOEXEC | O_NONBLOCK) != 0)
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
 * pipe, and neither must the empty buffer that Linux before 6.14 keeps of a write which moved nothing: as many as the
 * pipe has room for, and it is full. */
static bool pass(struct cells *cells, size_t from, size_t count)
{
    ssize_t bytes = (ssize_t)(count * sizeof cells->values[0]), moved, got;
    int parts = 0;

    for (size_t i = from; i < from + count; i++) {
        if (i > from && cells->at[i] == cells->at[i - 1] + 1)
            cells->parts[parts - 1].iov_len += sizeof cells->values[0];
        else
            cells->parts[parts++] = (struct iovec){(void *)(uintptr_t)cells->at[i], sizeof cells->values[0]};
    }
    moved = writev(cells->ends[1], cells->parts, parts);
    got = read(cells->ends[0], &cells->values[from], (size_t)bytes);
    return moved == bytes && got == bytes;
}

/* Read cells together, or each half of them by itself: few are gone, if any. */
static void read_some(struct cells *cells, size_t from, size_t count)
{
    bool all = pass(cells, from, count);

    if (all || count == 1) {
        for (size_t i = from; i < from + count; i++)
            cells->readable[i] = all;
        return;
    }
    read_some(cells, from, count / 2);
    read_some(cells, from + count / 2, count - count / 2);
}

void cells_read(struct cells *cells)
{
    if (cells->count > 0)
        read_some(cells, 0, cells->count);
    cells->count = 0;
}
