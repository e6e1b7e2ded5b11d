/* The book of blocks against a plain one: a list of blocks, and a copy of every number at each peak.
 *
 * SPEC: HEAP-2, HEAP-3 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

static size_t maps_left = SIZE_MAX; /* then there is no memory */

static void *test_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    if (maps_left == 0)
        return MAP_FAILED;
    maps_left--;
    return mmap(at, size, prot, flags, fd, offset);
}
#define mmap test_mmap
#include "heap_book.c"
#undef mmap

#define PLACES 7
#define ADDRESSES 3000
#define STEPS 60000

/* What is known of a place, or of all. */
struct plain {
    struct taken total, live, most, at_peak;
    uint64_t ages; /* of those that were freed */
};

static struct plain places[PLACES], all;
static uint64_t peak_at;
static struct {
    uint64_t size, born;
    unsigned place;
} blocks[ADDRESSES]; /* size 0: not alive */

static struct trace trace_of(unsigned place)
{
    struct trace trace = {.hash = place % 3, .depth = 1 + place % 4}; /* some have the same hash, some the same depth */

    for (size_t i = 0; i < trace.depth; i++)
        trace.pc[i] = 0x1000 * (place + 1) + i;
    return trace;
}

/* Addresses as close together as they can be, some far away, and in an order of their own. */
static uintptr_t address_of(unsigned i)
{
    return (i % 5 == 0 ? 0x7f0000000000 + i * 0x10000 : i % 5 == 1 ? 0x5000 + i : 0x550000000000 + i * 32);
}

static void plain_remove(unsigned i, uint64_t now)
{
    struct plain *place = &places[blocks[i].place];

    if (blocks[i].size == 0)
        return;
    subtract(&place->live, blocks[i].size);
    subtract(&all.live, blocks[i].size);
    place->ages += now - blocks[i].born;
    blocks[i].size = 0;
}

static void plain_add(unsigned i, uint64_t size, unsigned place, uint64_t now)
{
    struct plain *p = &places[place];

    plain_remove(i, now);
    blocks[i].size = size;
    blocks[i].born = now;
    blocks[i].place = place;
    add(&p->total, size);
    add(&p->live, size);
    add(&all.total, size);
    add(&all.live, size);
    if (p->live.bytes >= p->most.bytes)
        p->most = p->live;
    if (all.live.bytes < all.most.bytes)
        return;
    all.most = all.live;
    peak_at = now;
    for (unsigned k = 0; k < PLACES; k++)
        places[k].at_peak = places[k].live;
}

static bool same(struct taken a, struct taken b)
{
    return a.blocks == b.blocks && a.bytes == b.bytes;
}

static void compare(const struct book *book, uint64_t now)
{
    size_t points = 0;

    CHECK(same(book->total, all.total) && same(book->live, all.live) && same(book->peak, all.most));
    CHECK(book->peak_at == peak_at && book->untracked == 0);
    for (const struct point *p = book->points; p; p = p->next) {
        unsigned k = (unsigned)(p->pc[0] / 0x1000 - 1);
        uint64_t ages = places[k].ages;

        for (unsigned i = 0; i < ADDRESSES; i++)
            ages += blocks[i].size != 0 && blocks[i].place == k ? now - blocks[i].born : 0;
        CHECK(p->depth == trace_of(k).depth);
        CHECK(same(p->total, places[k].total) && same(p->live, places[k].live) && same(p->most, places[k].most));
        CHECK(same(book_at_peak(book, p), places[k].at_peak));
        CHECK((uint64_t)book_ages(p, now) == ages);
        points++;
    }
    for (unsigned k = 0; k < PLACES; k++)
        points -= places[k].total.blocks != 0;
    CHECK(points == 0);
}

static unsigned draw(unsigned most)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % most);
}

/* Phases in which more is allocated, and in which more is freed, so that there are many peaks, some of them equal. */
static void run_at_random(struct book *book)
{
    uint64_t now = 0;

    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = draw(ADDRESSES), place = draw(PLACES), chance = step / 4000 % 3 == 1 ? 2 : 8;
        struct trace trace = trace_of(place);

        now += draw(3);
        if (draw(10) < chance) {
            uint64_t size = 16 * (1 + draw(4));

            book_add(book, address_of(i), size, &trace, now);
            plain_add(i, size, place, now);
        } else {
            book_remove(book, address_of(i), now);
            plain_remove(i, now);
        }
        if (step % 500 == 0 || step < 200)
            compare(book, now);
    }
    compare(book, now);
    for (unsigned i = 0; i < ADDRESSES; i++) {
        book_remove(book, address_of(i), now);
        plain_remove(i, now);
    }
    compare(book, now);
    for (size_t i = 0; i < book->block_room; i++)
        CHECK(book->blocks[i].address == 0);
}

/* Of two peaks of as many bytes the last one counts. */
static void check_equal_peaks(void)
{
    struct book book = {.blocks = NULL};
    struct trace one = trace_of(0), two = trace_of(1);

    book_add(&book, 0x1000, 100, &one, 1);
    book_remove(&book, 0x1000, 2);
    book_add(&book, 0x1000, 50, &two, 3);
    book_add(&book, 0x2000, 50, &two, 4);
    CHECK(same(book.peak, (struct taken){2, 100}) && book.peak_at == 4);
    CHECK(same(book_at_peak(&book, book.points), (struct taken){0, 0}));
    CHECK(same(book_at_peak(&book, book.points->next), (struct taken){2, 100}));
    book_clear(&book);
    CHECK(book.points == NULL && book.total.blocks == 0);
}

/* What was never noted, or is no longer, is nothing. */
static void check_unknown(void)
{
    struct book book = {.blocks = NULL};
    struct trace trace = trace_of(2);

    book_remove(&book, 0x1000, 1);
    book_add(&book, 0x1000, 8, &trace, 2);
    book_remove(&book, 0, 3);
    book_remove(&book, 0x1008, 3);
    CHECK(same(book.live, (struct taken){1, 8}));
    book_remove(&book, 0x1000, 4);
    book_remove(&book, 0x1000, 5);
    CHECK(same(book.live, (struct taken){0, 0}) && same(book.total, (struct taken){1, 8}));
    book_clear(&book);
}

/* Without memory blocks are left out whole, and counted; those that were noted stay right. */
static void check_no_memory(size_t maps)
{
    struct book book = {.blocks = NULL};
    uint64_t noted;

    maps_left = maps;
    for (unsigned i = 0; i < 20000; i++) {
        struct trace trace = {.hash = i, .depth = 2, .pc = {i, 7}};

        book_add(&book, 0x100000 + i * 32, 16, &trace, i);
    }
    noted = book.total.blocks;
    CHECK(book.untracked != 0 && book.untracked + noted == 20000);
    CHECK(same(book.live, (struct taken){noted, noted * 16}));
    for (unsigned i = 0; i < 20000; i++)
        book_remove(&book, 0x100000 + i * 32, 20000);
    CHECK(same(book.live, (struct taken){0, 0}) && same(book.peak, (struct taken){noted, noted * 16}));
    for (const struct point *p = book.points; p; p = p->next)
        CHECK(same(p->total, (struct taken){1, 16}) && same(p->live, (struct taken){0, 0}));
    maps_left = SIZE_MAX;
    book_clear(&book);
}

int main(void)
{
    struct book book = {.blocks = NULL};

    run_at_random(&book);
    book_clear(&book);
    check_equal_peaks();
    check_unknown();
    for (size_t maps = 0; maps < 9; maps++)
        check_no_memory(maps);
    return 0;
}
