/* Counters.
 *
 * Names and cells are records in two lists that only grow at their ends. Who adds holds a lock; who reads at the end of
 * the process, perhaps in a signal handler above one who adds, follows the lists without it: a record is linked only
 * when it is whole. One hash table, which only those who add look at, finds both: a name under no cell, a cell under its
 * name's record. */
#include "counters.h"

#include <string.h>
#include <sys/mman.h>

#include "cells.h"
#include "kept.h"

#define TABLE_FIRST 256u

struct record {
    struct record *next;
    struct record *of;    /* of a cell: its name; of a name: null */
    const uint64_t *cell; /* likewise */
    union {
        struct { /* of a cell */
            struct versions versions;
            uint64_t last[2]; /* what it held at a change, or when it was registered in a phase */
            uint64_t now;     /* what it holds at the change that is being made */
            uint64_t base;    /* what it held when this copy of the process began; 0 in the first */
        };
        struct { /* of a name */
            uint64_t growing;      /* by how much, in the change that is being made; else 0 */
            uint64_t value, grown; /* at the end: since the start, since the last change */
            bool lost;             /* a cell could not be read */
            bool read;             /* one was looked at, at the end */
        };
    };
    uint8_t length;
    char name[];
};

struct list {
    struct record *head, **tail;
};

struct growth {
    struct growth *next; /* in the order of the counters */
    struct record *name;
    struct versions versions;
    uint64_t of[2];
};

static struct list names = {NULL, &names.head}, cells = {NULL, &cells.head};
static struct record **table;
static size_t table_size, table_used; /* a power of two; at most half is used */
static bool in_phase;
static struct cells reader, last_reader; /* under the lock; at the end, when the other may be in use */

static struct record *make(const char *name, size_t length)
{
    struct record *record = kept(sizeof *record + length);

    if (record) {
        record->length = (uint8_t)length;
        memcpy(record->name, name, length);
    }
    return record;
}

static void append(struct list *list, struct record *record)
{
    __atomic_store_n(list->tail, record, __ATOMIC_RELEASE);
    list->tail = &record->next;
}

static struct record *next(struct record *const *link)
{
    return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

/* Where in the table a record is, or would be. A cell's record has no name of its own. */
static struct record **find(const char *name, size_t length, const struct record *of, const uint64_t *cell)
{
    for (size_t i = (size_t)kept_hash(name, length, (uintptr_t)of ^ (uint64_t)(uintptr_t)cell << 20);; i++) {
        struct record **slot = &table[i & (table_size - 1)], *r = *slot;

        if (!r || (r->of == of && r->cell == cell && r->length == length && memcmp(r->name, name, length) == 0))
            return slot;
    }
}

static struct record **map_table(size_t size)
{
    void *p = mmap(NULL, size * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Make room in the table for two more. */
static bool make_room(void)
{
    struct record **old = table, **fresh;
    size_t old_size = table_size;

    if (table_used + 2 <= table_size / 2)
        return true;
    fresh = map_table(old_size ? 2 * old_size : TABLE_FIRST);
    if (!fresh)
        return false;
    table = fresh;
    table_size = old_size ? 2 * old_size : TABLE_FIRST;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i])
            *find(old[i]->name, old[i]->length, old[i]->of, old[i]->cell) = old[i];
    }
    if (old)
        munmap(old, old_size * sizeof *old);
    return true;
}

/* What a cell holds; 0 where it cannot be read. */
static uint64_t held(const uint64_t *cell)
{
    reader.at[0] = cell;
    reader.count = 1;
    cells_read(&reader);
    return reader.readable[0] ? reader.values[0] : 0;
}

/* The record of these facts, made and linked where there is none; null where there is no memory.
 * Requires: the lock is held; make_room() was called. */
static struct record *have(struct list *list, const char *name, size_t length, struct record *of, const uint64_t *cell)
{
    struct record **slot = find(name, length, of, cell), *record = *slot;

    if (record)
        return record;
    record = make(name, length);
    if (!record)
        return NULL;
    record->of = of;
    record->cell = cell;
    if (cell && in_phase)
        record->last[0] = held(cell);
    *slot = record;
    table_used++;
    append(list, record);
    return record;
}

bool counters_add(const char *name, size_t length, const uint64_t *cell)
{
    struct record *of;
    bool done;

    pthread_mutex_lock(&kept_lock);
    of = make_room() ? have(&names, name, length, NULL, NULL) : NULL;
    done = of && have(&cells, "", 0, of, cell);
    pthread_mutex_unlock(&kept_lock);
    return done;
}

void counters_begin(void)
{
    cells_open(&reader);
    cells_open(&last_reader);
}

/* Read every cell, some at a time, and hand each to a function with what it holds; null where it cannot be read. */
static void read_all(struct cells *through, void (*take)(struct record *, const uint64_t *, uint64_t), uint64_t change)
{
    struct record *from = next(&cells.head);

    while (from) {
        struct record *cell = from;
        size_t count = 0;

        for (; cell && count < CELLS_MOST; cell = next(&cell->next))
            through->at[count++] = cell->cell;
        through->count = count;
        cells_read(through);
        for (size_t i = 0; i < count; i++, from = next(&from->next)) {
            if (!through->readable[i])
                __atomic_store_n(&from->of->lost, true, __ATOMIC_RELAXED);
            take(from, through->readable[i] ? &through->values[i] : NULL, change);
        }
    }
}

static void begin_anew(struct record *cell, const uint64_t *value, uint64_t change)
{
    (void)change;
    cell->base = cell->last[0] = value ? *value : 0;
    cell->versions = (struct versions){{0, 0}};
}

void counters_copied(void)
{
    cells_close(&reader);
    cells_close(&last_reader);
    counters_begin();
    in_phase = false;
    for (struct record *name = names.head; name; name = name->next) {
        name->value = name->grown = 0;
        name->lost = name->read = false;
    }
    read_all(&reader, begin_anew, 0);
}

static uint64_t last_of(const struct record *cell, uint64_t change)
{
    return cell->last[version_at(&cell->versions, change)];
}

static void look(struct record *cell, const uint64_t *value, uint64_t change)
{
    cell->now = value ? *value : last_of(cell, change);
}

static void look_and_add(struct record *cell, const uint64_t *value, uint64_t change)
{
    look(cell, value, change);
    if (cell->now != last_of(cell, change)) /* seldom, of many; and a name is far from its cells */
        cell->of->growing += cell->now - last_of(cell, change);
}

/* Have room for what is growing, in the order of the counters. */
static bool have_growth(struct growth **list)
{
    for (struct record *name = names.head; name; name = name->next) {
        if (*list && (*list)->name == name) {
            list = &(*list)->next;
        } else if (name->growing != 0) {
            struct growth *fresh = kept(sizeof *fresh);

            if (!fresh)
                return false;
            fresh->name = name;
            fresh->next = *list;
            __atomic_store_n(list, fresh, __ATOMIC_RELEASE);
            list = &fresh->next;
        }
    }
    return true;
}

bool counters_take(struct growth **list, uint64_t change)
{
    read_all(&reader, list ? look_and_add : look, change);
    if (!list || have_growth(list))
        return true;
    for (struct record *name = names.head; name; name = name->next)
        name->growing = 0;
    return false;
}

void counters_put_down(struct growth **list, uint64_t change, bool goes_on)
{
    for (struct record *cell = cells.head; cell; cell = cell->next) {
        int newer = 1 - version_at(&cell->versions, change);

        if (cell->now == cell->last[1 - newer])
            continue;
        cell->last[newer] = cell->now;
        version_set(&cell->versions, newer, change + 1);
    }
    for (struct growth *growth = list ? *list : NULL; growth; growth = growth->next) {
        int newer = 1 - version_at(&growth->versions, change);

        if (growth->name->growing == 0)
            continue;
        growth->of[newer] = growth->of[1 - newer] + growth->name->growing;
        growth->name->growing = 0;
        version_set(&growth->versions, newer, change + 1);
    }
    in_phase = goes_on;
}

static void take_last(struct record *cell, const uint64_t *value, uint64_t change)
{
    if (value) {
        cell->of->value += *value - cell->base;
        cell->of->grown += *value - last_of(cell, change);
    }
    cell->of->read = true;
}

void counters_end(uint64_t change)
{
    read_all(&last_reader, take_last, change);
}

static void write_one(struct json *json, const struct record *name, uint64_t value)
{
    json_begin(json, '{');
    json_key(json, "name");
    json_string(json, name->name, name->length);
    json_pair_number(json, "value", value);
    json_end(json, '}');
}

void counters_write(struct json *json)
{
    json_begin(json, '[');
    for (struct record *name = next(&names.head); name; name = next(&name->next)) {
        if (name->read)
            write_one(json, name, name->value);
    }
    json_end(json, ']');
}

void counters_write_growth(struct json *json, struct growth *const *list, uint64_t change, bool goes_on)
{
    struct growth *growth = __atomic_load_n(list, __ATOMIC_ACQUIRE);

    json_begin(json, '[');
    for (struct record *name = next(&names.head); name; name = next(&name->next)) {
        uint64_t value = goes_on ? name->grown : 0;

        if (growth && growth->name == name) {
            value += growth->of[version_at(&growth->versions, change)];
            growth = __atomic_load_n(&growth->next, __ATOMIC_ACQUIRE);
        }
        if (name->read && value != 0)
            write_one(json, name, value);
    }
    json_end(json, ']');
}

void counters_write_lost(struct json *json)
{
    json_begin(json, '[');
    for (struct record *name = next(&names.head); name; name = next(&name->next)) {
        if (name->read && name->lost)
            json_string(json, name->name, name->length);
    }
    json_end(json, ']');
}
