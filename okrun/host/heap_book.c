#include "heap_book.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t)1 << 18)
#define FIRST_ROOM ((size_t)1 << 12)
#define GROUP ((size_t)16)
#define STEP 32u /* bytes from one block to the next, at least, as allocators make them */

struct chunk {
    struct chunk *before;
    char bytes[CHUNK - sizeof(struct chunk *)];
};

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Where a block belongs. Neighbours in memory have neighbouring slots, GROUP of them, because programs take and free
 * neighbours together, and a slot that is in no cache costs more than all the rest. */
static size_t slot_of(uintptr_t address, size_t room)
{
    uint64_t step = address / STEP, group = step / GROUP * UINT64_C(0x9e3779b97f4a7c15);
    int bits = __builtin_ctzll(room / GROUP);

    return (size_t)(group >> (64 - bits)) * GROUP + step % GROUP;
}

/* The slot that a block is in, or would be.
 * Requires: there is room, and at least one slot is free. */
static struct block *find_block(const struct book *book, uintptr_t address)
{
    size_t i = slot_of(address, book->block_room);

    while (book->blocks[i].address != 0 && book->blocks[i].address != address)
        i = (i + 1) & (book->block_room - 1);
    return &book->blocks[i];
}

/* Have room for one more block; false where there is no memory. */
static bool have_block_room(struct book *book)
{
    size_t old_room = book->block_room;
    struct block *old = book->blocks, *fresh;

    if (book->live.blocks + 1 <= old_room / 2)
        return true;
    fresh = map((old_room != 0 ? 2 * old_room : FIRST_ROOM) * sizeof *fresh);
    if (fresh == NULL)
        return false;
    book->blocks = fresh;
    book->block_room = old_room != 0 ? 2 * old_room : FIRST_ROOM;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].address != 0)
            *find_block(book, old[i].address) = old[i];
    }
    if (old != NULL)
        munmap(old, old_room * sizeof *old);
    return true;
}

static struct point **find_point(const struct book *book, const struct trace *trace)
{
    size_t i = (size_t)trace->hash;

    for (;; i++) {
        struct point **slot = &book->by_hash[i & (book->point_room - 1)], *p = *slot;

        if (p == NULL || (p->hash == trace->hash && p->depth == trace->depth &&
                          memcmp(p->pc, trace->pc, trace->depth * sizeof p->pc[0]) == 0))
            return slot;
    }
}

static bool have_point_room(struct book *book)
{
    size_t old_room = book->point_room;
    struct point **fresh;

    if (book->point_count + 1 <= old_room / 2)
        return true;
    fresh = map((old_room != 0 ? 2 * old_room : FIRST_ROOM) * sizeof *fresh);
    if (fresh == NULL)
        return false;
    if (old_room != 0)
        munmap(book->by_hash, old_room * sizeof *fresh);
    book->by_hash = fresh;
    book->point_room = old_room != 0 ? 2 * old_room : FIRST_ROOM;
    for (struct point *p = book->points; p != NULL; p = p->next) {
        size_t i = (size_t)p->hash;

        while (fresh[i & (book->point_room - 1)] != NULL)
            i++;
        fresh[i & (book->point_room - 1)] = p;
    }
    return true;
}

static struct point *make_point(struct book *book, const struct trace *trace)
{
    size_t size = (sizeof(struct point) + trace->depth * sizeof trace->pc[0] + 15) & ~(size_t)15;
    struct point *point;

    if (size > book->chunk_left) {
        struct chunk *fresh = map(sizeof *fresh);

        if (fresh == NULL)
            return NULL;
        fresh->before = book->chunk;
        book->chunk = fresh;
        book->chunk_left = sizeof fresh->bytes - 8; /* points lie at multiples of 16 */
    }
    point = (struct point *)(void *)((char *)(book->chunk + 1) - book->chunk_left);
    book->chunk_left -= size;
    point->hash = trace->hash;
    point->depth = trace->depth;
    memcpy(point->pc, trace->pc, trace->depth * sizeof point->pc[0]);
    return point;
}

/* The point of a trace, made where there is none; null where there is no memory. */
static struct point *have_point(struct book *book, const struct trace *trace)
{
    struct point **slot, *point;

    if (!have_point_room(book))
        return NULL;
    slot = find_point(book, trace);
    if (*slot != NULL)
        return *slot;
    point = make_point(book, trace);
    if (point == NULL)
        return NULL;
    *slot = point;
    book->point_count++;
    __atomic_store_n(book->last != NULL ? book->last : &book->points, point, __ATOMIC_RELEASE);
    book->last = &point->next;
    return point;
}

/* What a point has alive changes now, and the book's peak stays what it was. */
static void keep_peak(const struct book *book, struct point *point)
{
    if (point->changed != book->peak_number) {
        point->before = point->live;
        point->changed = book->peak_number;
    }
}

static void add(struct taken *taken, uint64_t size)
{
    taken->blocks++;
    taken->bytes += size;
}

static void subtract(struct taken *taken, uint64_t size)
{
    taken->blocks--;
    taken->bytes -= size;
}

static void count(struct book *book, struct point *point, uint64_t size, uint64_t now)
{
    bool is_peak = book->live.bytes + size >= book->peak.bytes;

    if (!is_peak)
        keep_peak(book, point);
    add(&point->total, size);
    add(&point->live, size);
    add(&book->total, size);
    add(&book->live, size);
    point->ages -= now;
    if (point->live.bytes >= point->most.bytes)
        point->most = point->live;
    if (is_peak) {
        book->peak = book->live;
        book->peak_at = now;
        book->peak_number++;
    }
}

void book_add(struct book *book, uintptr_t address, uint64_t size, const struct trace *trace, uint64_t now)
{
    struct point *point;

    book_remove(book, address, now);
    point = have_block_room(book) ? have_point(book, trace) : NULL;
    if (point == NULL) {
        book->untracked++;
        return;
    }
    *find_block(book, address) = (struct block){address, size, point};
    count(book, point, size, now);
}

/* Free a slot. What was put behind it because it was taken moves up, so that no search ends before what it is for. */
static void free_slot(struct book *book, struct block *slot)
{
    size_t hole = (size_t)(slot - book->blocks), mask = book->block_room - 1;

    for (size_t i = (hole + 1) & mask; book->blocks[i].address != 0; i = (i + 1) & mask) {
        size_t home = slot_of(book->blocks[i].address, book->block_room);

        if (((i - home) & mask) >= ((i - hole) & mask)) {
            book->blocks[hole] = book->blocks[i];
            hole = i;
        }
    }
    book->blocks[hole].address = 0;
}

void book_remove(struct book *book, uintptr_t address, uint64_t now)
{
    struct block *slot;
    struct point *point;
    uint64_t size;

    if (address == 0 || book->block_room == 0)
        return;
    slot = find_block(book, address);
    if (slot->address == 0)
        return;
    point = slot->point;
    size = slot->size;
    free_slot(book, slot);
    keep_peak(book, point);
    subtract(&point->live, size);
    subtract(&book->live, size);
    point->ages += now;
}

struct taken book_at_peak(const struct book *book, const struct point *point)
{
    return point->changed == book->peak_number ? point->before : point->live;
}

unsigned __int128 book_ages(const struct point *point, uint64_t now)
{
    __int128 ages = (__int128)(point->ages + (unsigned __int128)point->live.blocks * now);

    return ages > 0 ? (unsigned __int128)ages : 0; /* the counters of two processors may differ a little */
}

void book_clear(struct book *book)
{
    if (book->blocks != NULL)
        munmap(book->blocks, book->block_room * sizeof *book->blocks);
    if (book->by_hash != NULL)
        munmap(book->by_hash, book->point_room * sizeof *book->by_hash);
    while (book->chunk != NULL) {
        struct chunk *before = book->chunk->before;

        munmap(book->chunk, sizeof *before);
        book->chunk = before;
    }
    *book = (struct book){.blocks = NULL};
}
