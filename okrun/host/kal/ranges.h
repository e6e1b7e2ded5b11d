/* Ranges of addresses that an interface handed out, so that what was never one is refused and not touched. */
#ifndef OKHOST_KAL_RANGES_H
#define OKHOST_KAL_RANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uintptr_t start;
    size_t size; /* as it was asked for, not rounded up */
};

/* Ranges in ascending order; none overlap. */
struct ranges {
    pthread_mutex_t lock;
    struct range *of;
    size_t count, room;
};

#define RANGES_NONE {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Remember a range; false where there is no memory.
 * Requires: it overlaps none that is remembered. */
bool ranges_add(struct ranges *ranges, const void *start, size_t size);

/* Forget the range of exactly this start and size; false where it is none. */
bool ranges_take(struct ranges *ranges, const void *start, size_t size);

/* Find the range that holds the size bytes at p; false where none does. */
bool ranges_find(struct ranges *ranges, const void *p, size_t size, struct range *found);

/* size rounded up to whole pages, or 0 where that is more than there can be. */
size_t ranges_pages(size_t size);
size_t ranges_page(void);

#endif
