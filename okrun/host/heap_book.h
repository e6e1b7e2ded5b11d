/* The book of blocks: which are alive, and what each place that allocates has taken.
 *
 * Memory is the book's own, from mmap(). Who changes it holds a lock of the caller's; who reads the totals and the
 * points at the end of the process, perhaps in a signal handler above one who changes them, may do without: points are
 * in a list that only grows, and are linked when they are whole. */
#ifndef OKHOST_HEAP_BOOK_H
#define OKHOST_HEAP_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOK_DEPTH 32u /* return addresses of a backtrace, the innermost ones */

/* What was taken: blocks, and the bytes that were asked for. */
struct taken {
    uint64_t blocks, bytes;
};

/* A backtrace. */
struct trace {
    uint64_t hash;
    size_t depth;
    uint64_t pc[BOOK_DEPTH]; /* run-time return addresses, the innermost first */
};

/* A place that allocates: all blocks of one backtrace. */
struct point {
    struct point *next;
    struct taken total, live;
    struct taken most;   /* alive when the most bytes of this point were */
    struct taken before; /* alive at the book's peak, where it changed since: then `changed` is the peak's number */
    uint64_t changed;
    unsigned __int128 ages; /* ticks: those at which its blocks were freed, less those at which they were allocated */
    uint64_t hash;
    size_t depth;
    uint64_t pc[];
};

/* A block that is alive; address 0: none. */
struct block {
    uintptr_t address;
    uint64_t size;
    struct point *point;
};

struct chunk;

struct book {
    struct point *points, **last;
    struct point **by_hash; /* point_room slots, a power of two, of which at most half are used */
    size_t point_count, point_room;
    struct block *blocks; /* block_room slots, a power of two, of which at most half are used */
    size_t block_room;
    struct taken total, live;
    struct taken peak;      /* alive when the most bytes were, the last time if several */
    uint64_t peak_at;       /* when, in ticks */
    uint64_t peak_number;   /* how many peaks there were: each is one more than all before it */
    uint64_t untracked;     /* blocks that there was no memory to keep */
    struct chunk *chunk;    /* the last of its chunk_left bytes are for points */
    size_t chunk_left;
};

/* Note a block that was allocated, at a time in ticks.
 * Requires: address is not 0; the trace's hash is that of its addresses.
 * Ensures:  it is in every total, or, where there is no memory, in `untracked` alone. A block that is noted already was
 *           freed without a word, now.                                              SPEC: HEAP-2, HEAP-3 */
void book_add(struct book *book, uintptr_t address, uint64_t size, const struct trace *trace, uint64_t now);

/* Note that a block was freed. What is no block of the book changes nothing.                    SPEC: HEAP-3 */
void book_remove(struct book *book, uintptr_t address, uint64_t now);

/* What a point had alive at the book's peak. */
struct taken book_at_peak(const struct book *book, const struct point *point);

/* The ages of all blocks of a point, in ticks, at a time at which those that are alive end. */
unsigned __int128 book_ages(const struct point *point, uint64_t now);

/* Give all memory back, and begin anew at nothing. */
void book_clear(struct book *book);

#endif
