/* Counters and phases.
 *
 * Names and cells are records in two lists that only grow at their ends. Who adds holds a lock; who reads at the end of
 * the process, perhaps in a signal handler above one who adds, follows the lists without it: a record is linked only
 * when it is whole. One hash table, which only those who add look at, finds both: a name under no cell, a cell under its
 * name's record. */
#define _GNU_SOURCE /* pipe2 */
#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kal/copied.h"
#include "measure.h"

#define CHUNK ((size_t)1 << 18)
#define TABLE_FIRST 256u

struct record {
    struct record *next;
    struct record *of; /* of a cell: its name; of a name: null */
    const uint64_t *cell;
    uint64_t value;          /* of a name: the sum; of a phase: when it began */
    uint64_t end;            /* of a phase: when it ended, 0 while it goes on */
    bool lost;               /* of a name: a cell could not be read */
    uint8_t length;
    char name[];
};

struct list {
    struct record *head, **tail;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FREE_IN_COPIES(lock)
static struct list names = {NULL, &names.head}, cells = {NULL, &cells.head}, phases = {NULL, &phases.head};
static struct record *phase; /* the one that goes on */
static struct record **table;
static size_t table_size, table_used; /* a power of two; at most half is used */
static char *chunk;
static size_t chunk_left;
static int ends[2] = {-1, -1}; /* of the pipe that cells are read through */

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static struct record *make(const char *name, size_t length)
{
    size_t size = (sizeof(struct record) + length + 7) & ~(size_t)7;
    struct record *record;

    if (size > chunk_left) {
        char *fresh = map(CHUNK);

        if (!fresh)
            return NULL;
        chunk = fresh;
        chunk_left = CHUNK;
    }
    record = (struct record *)(void *)chunk;
    chunk += size;
    chunk_left -= size;
    record->length = (uint8_t)length;
    memcpy(record->name, name, length);
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

/* FNV-1a, and one more round to bring its high bits down. */
static size_t hash(const char *name, size_t length, const struct record *of, const uint64_t *cell)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)of ^ (uint64_t)(uintptr_t)cell << 20;

    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32);
}

/* Where in the table a record is, or would be. A cell's record has no name of its own. */
static struct record **find(const char *name, size_t length, const struct record *of, const uint64_t *cell)
{
    for (size_t i = hash(name, length, of, cell);; i++) {
        struct record **slot = &table[i & (table_size - 1)], *r = *slot;

        if (!r || (r->of == of && r->cell == cell && r->length == length && memcmp(r->name, name, length) == 0))
            return slot;
    }
}

/* Make room in the table for two more. */
static bool make_room(void)
{
    struct record **old = table, **fresh;
    size_t old_size = table_size;

    if (table_used + 2 <= table_size / 2)
        return true;
    fresh = map((old_size ? 2 * old_size : TABLE_FIRST) * sizeof *table);
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
    *slot = record;
    table_used++;
    append(list, record);
    return record;
}

bool counters_add(const char *name, size_t length, const uint64_t *cell)
{
    struct record *of;
    bool done;

    pthread_mutex_lock(&lock);
    of = make_room() ? have(&names, name, length, NULL, NULL) : NULL;
    done = of && have(&cells, "", 0, of, cell);
    pthread_mutex_unlock(&lock);
    return done;
}

bool counters_phase(const char *name, size_t length)
{
    struct record *begun = NULL;
    uint64_t now;

    pthread_mutex_lock(&lock);
    now = measure_elapsed();
    if (length > 0) {
        begun = make(name, length);
        if (!begun) {
            pthread_mutex_unlock(&lock);
            return false;
        }
        begun->value = now;
    }
    if (phase)
        __atomic_store_n(&phase->end, now, __ATOMIC_RELAXED);
    if (begun)
        append(&phases, begun);
    phase = begun;
    pthread_mutex_unlock(&lock);
    return true;
}

void counters_begin(void)
{
    int made[2];

    if (pipe2(made, O_CLOEXEC) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        ends[i] = made[i] > 2 ? made[i] : fcntl(made[i], F_DUPFD_CLOEXEC, 3);
        if (made[i] <= 2)
            close(made[i]);
    }
}

void counters_copied(void)
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
    phases.head = NULL;
    phases.tail = &phases.head;
    phase = NULL;
    counters_begin();
}

/* Read a cell through the pipe: the kernel says EFAULT where a load would be a second crash. */
static bool read_cell(const uint64_t *cell, uint64_t *value)
{
    ssize_t n;

    do {
        n = write(ends[1], cell, sizeof *cell);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    /* A cell that crosses into a page that is gone moves in part: what has moved must not stay in the pipe. */
    return read(ends[0], value, sizeof *value) == (ssize_t)sizeof *value;
}

void counters_read(void)
{
    for (struct record *cell = next(&cells.head); cell; cell = next(&cell->next)) {
        uint64_t value;

        if (read_cell(cell->cell, &value))
            cell->of->value += value;
        else
            cell->of->lost = true;
    }
    for (int i = 0; i < 2; i++)
        close(ends[i]);
}

void counters_write(struct json *json, uint64_t now)
{
    json_key(json, "counters");
    json_begin(json, '[');
    for (struct record *name = next(&names.head); name; name = next(&name->next)) {
        json_begin(json, '{');
        json_key(json, "name");
        json_string(json, name->name, name->length);
        json_key(json, "value");
        json_number(json, name->value);
        json_end(json, '}');
    }
    json_end(json, ']');

    json_key(json, "phases");
    json_begin(json, '[');
    for (struct record *p = next(&phases.head); p; p = next(&p->next)) {
        uint64_t end = __atomic_load_n(&p->end, __ATOMIC_RELAXED);

        json_begin(json, '{');
        json_key(json, "name");
        json_string(json, p->name, p->length);
        json_key(json, "start_ns");
        json_number(json, p->value);
        json_key(json, "elapsed_ns");
        json_number(json, (end ? end : now) - p->value);
        json_end(json, '}');
    }
    json_end(json, ']');

    json_key(json, "lost");
    json_begin(json, '[');
    for (struct record *name = next(&names.head); name; name = next(&name->next)) {
        if (name->lost)
            json_string(json, name->name, name->length);
    }
    json_end(json, ']');
}
