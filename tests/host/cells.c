/* Cells that are gone, under this kernel and as Linux before 6.14 has it.                               SPEC: RI-2 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cells.h"
#include "check.h"

#define PAGE 4096
#define BUFFERS 16 /* of a pipe */
#define ROUNDS (3 * BUFFERS)

static struct cells cells;
static int empty_buffers; /* that a kernel before 6.14 would have in the pipe now */
static int writes;

/* There a write that moves nothing leaves an empty buffer behind, in which a later one of less than a page has room. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    size_t bytes = 0;
    ssize_t moved;

    for (int i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    CHECK(empty_buffers < BUFFERS || bytes % PAGE != 0); /* else it waits for a reader */
    moved = syscall(SYS_writev, fd, parts, count);
    empty_buffers += moved < 0 && errno == EFAULT && (empty_buffers == 0 || bytes % PAGE == 0);
    writes++;
    return moved;
}

ssize_t read(int fd, void *to, size_t size)
{
    empty_buffers = 0;
    return syscall(SYS_read, fd, to, size);
}

static void never_waits(void)
{
    CHECK((fcntl(cells.ends[0], F_GETFL) & O_NONBLOCK) != 0);
    CHECK((fcntl(cells.ends[1], F_GETFL) & O_NONBLOCK) != 0);
}

static void all_are_gone(char *gone)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CELLS_MOST; i++)
            cells.at[i] = (uint64_t *)(void *)(gone + 16 * i);
        cells.count = CELLS_MOST;
        cells_read(&cells);
        CHECK(cells.count == 0);
        for (size_t i = 0; i < CELLS_MOST; i++)
            CHECK(!cells.readable[i]);
    }
}

/* One of many is found in few steps, wherever it is, and the others are what they were. */
static void one_is_gone(char *gone)
{
    static uint64_t there[CELLS_MOST];

    for (size_t bad = 0; bad < CELLS_MOST; bad += 73) {
        for (size_t i = 0; i < CELLS_MOST; i++) {
            there[i] = i * UINT64_C(0x0101010101010101) + bad;
            cells.at[i] = i == bad ? (uint64_t *)(void *)gone : &there[i];
        }
        cells.count = CELLS_MOST;
        writes = 0;
        cells_read(&cells);
        CHECK(writes <= 1 + 2 * 9);
        for (size_t i = 0; i < CELLS_MOST; i++)
            CHECK(cells.readable[i] == (i != bad) && (i == bad || cells.values[i] == there[i]));
    }
}

/* A cell of which the first bytes are there, and no more: none of them is left over for the next. */
static void one_is_there_in_part(char *end)
{
    static uint64_t there = UINT64_C(0x1122334455667788);

    for (size_t part = 1; part < 8; part++) {
        cells.at[0] = (uint64_t *)(void *)(end - part);
        cells.at[1] = &there;
        cells.count = 2;
        cells_read(&cells);
        CHECK(!cells.readable[0] && cells.readable[1] && cells.values[1] == there);
    }
}

int main(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE) * 8;
    char *both = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(both != MAP_FAILED && mprotect(both + size, size, PROT_NONE) == 0);
    cells_open(&cells);
    never_waits();
    all_are_gone(both + size);
    one_is_gone(both + size);
    one_is_there_in_part(both + size);
    cells_close(&cells);
    return 0;
}
