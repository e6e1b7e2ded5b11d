#include "ranges.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM 16

/* How many ranges begin at or below an address.
 * Requires: the lock is held. */
static size_t below(const struct ranges *ranges, uintptr_t address)
{
    size_t low = 0, high = ranges->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges->of[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ranges_add(struct ranges *ranges, const void *start, size_t size)
{
    size_t at;

    pthread_mutex_lock(&ranges->lock);
    if (ranges->count == ranges->room) {
        size_t room = ranges->room != 0 ? 2 * ranges->room : FIRST_ROOM;
        struct range *more = reallocarray(ranges->of, room, sizeof *more);

        if (more == NULL) {
            pthread_mutex_unlock(&ranges->lock);
            return false;
        }
        ranges->of = more;
        ranges->room = room;
    }
    at = below(ranges, (uintptr_t)start);
    memmove(ranges->of + at + 1, ranges->of + at, (ranges->count - at) * sizeof *ranges->of);
    ranges->of[at] = (struct range){(uintptr_t)start, size};
    ranges->count++;
    pthread_mutex_unlock(&ranges->lock);
    return true;
}

bool ranges_take(struct ranges *ranges, const void *start, size_t size)
{
    size_t at;
    bool found;

    pthread_mutex_lock(&ranges->lock);
    at = below(ranges, (uintptr_t)start);
    found = at != 0 && ranges->of[at - 1].start == (uintptr_t)start && ranges->of[at - 1].size == size;
    if (found) {
        memmove(ranges->of + at - 1, ranges->of + at, (ranges->count - at) * sizeof *ranges->of);
        ranges->count--;
    }
    pthread_mutex_unlock(&ranges->lock);
    return found;
}

bool ranges_find(struct ranges *ranges, const void *p, size_t size, struct range *found)
{
    size_t at;
    bool holds = false;

    pthread_mutex_lock(&ranges->lock);
    at = below(ranges, (uintptr_t)p);
    if (at != 0) {
        size_t offset = (uintptr_t)p - ranges->of[at - 1].start, held = ranges_pages(ranges->of[at - 1].size);

        *found = ranges->of[at - 1];
        holds = size <= held && offset <= held - size;
    }
    pthread_mutex_unlock(&ranges->lock);
    return holds;
}

size_t ranges_page(void)
{
    static size_t page;

    if (page == 0)
        page = (size_t)sysconf(_SC_PAGESIZE);
    return page;
}

size_t ranges_pages(size_t size)
{
    size_t page = ranges_page();

    return size > PTRDIFF_MAX ? 0 : (size + page - 1) & ~(page - 1);
}
