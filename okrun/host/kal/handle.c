#include "handle.h"

#include <openkal/stream.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "copied.h"

#define STANDARD_STREAMS 3 /* their slots are their descriptors */
#define CHUNK_BITS 10      /* slots of a chunk; one is mapped when those before it are full */
#define CHUNK_SLOTS (UINT32_C(1) << CHUNK_BITS)
#define CHUNKS 1024
#define NO_SLOT UINT32_MAX

#define KIND_BITS 8
#define SLOT_BITS 20
#define GENERATION_BITS 36
#define KIND_MASK ((UINT64_C(1) << KIND_BITS) - 1)
#define GENERATION_MASK ((UINT64_C(1) << GENERATION_BITS) - 1)

/* Chunks are made, never moved and never given back, so that a look-up takes no lock. */
static struct handle first_chunk[CHUNK_SLOTS];
static struct handle *chunks[CHUNKS] = {first_chunk};
static uint32_t slot_count = STANDARD_STREAMS; /* slots that were ever in use */
static uint32_t free_slot = NO_SLOT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FREE_IN_COPIES(lock)

static uint32_t slot_of(kal_uintptr word)
{
    return (uint32_t)(word >> KIND_BITS) & ((UINT32_C(1) << SLOT_BITS) - 1);
}

static struct handle *at(uint32_t slot)
{
    struct handle *chunk = __atomic_load_n(&chunks[slot >> CHUNK_BITS], __ATOMIC_ACQUIRE);

    return chunk ? &chunk[slot & (CHUNK_SLOTS - 1)] : NULL;
}

/* Bits that no program guesses by accident. */
static uint64_t random_bits(void)
{
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
        struct timespec now; /* before the kernel's generator is seeded: still not a small number */

        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
    }
    return bits;
}

/* The word of a slot that had `last` before, 0 for none: never 0 in the generation, never the one before. */
static kal_uintptr fresh_word(enum handle_kind kind, uint32_t slot, kal_uintptr last)
{
    static uint64_t seed; /* one run's: a slot's own start is mixed from it */
    uint64_t generation = last >> (KIND_BITS + SLOT_BITS);

    if (seed == 0)
        seed = random_bits() | 1;
    if (generation == 0) {
        uint64_t mixed = (seed ^ slot) * UINT64_C(0x9e3779b97f4a7c15);

        generation = (mixed >> 28 | UINT64_C(1) << (GENERATION_BITS - 1)) & GENERATION_MASK;
    } else {
        generation = (generation + 1) & GENERATION_MASK;
        generation += generation == 0;
    }
    return generation << (KIND_BITS + SLOT_BITS) | (uint64_t)slot << KIND_BITS | (uint64_t)kind;
}

/* A slot for the taking, or NO_SLOT.
 * Requires: the lock is held. */
static uint32_t take_slot(void)
{
    uint32_t slot = free_slot, chunk;

    if (slot != NO_SLOT) {
        free_slot = at(slot)->next;
        return slot;
    }
    slot = slot_count;
    chunk = slot >> CHUNK_BITS;
    if (chunk >= CHUNKS)
        return NO_SLOT;
    if (chunks[chunk] == NULL) {
        void *made = mmap(NULL, CHUNK_SLOTS * sizeof(struct handle), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (made == MAP_FAILED)
            return NO_SLOT;
        __atomic_store_n(&chunks[chunk], made, __ATOMIC_RELEASE);
    }
    slot_count = slot + 1;
    return slot;
}

kal_uintptr handle_new(enum handle_kind kind, int fd, void *state, void (*end)(struct handle *))
{
    kal_uintptr word = 0;
    uint32_t slot;

    pthread_mutex_lock(&lock);
    slot = take_slot();
    if (slot != NO_SLOT) {
        struct handle *handle = at(slot);

        /* A free slot keeps the word before, without its kind, for the generation after it. */
        word = fresh_word(kind, slot, handle->word);
        handle->kind = kind;
        handle->fd = fd;
        handle->state = state;
        handle->end = end;
        __atomic_store_n(&handle->uses, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&handle->word, word, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return word;
}

/* Whether a handle issued as `own` answers to `asked`. */
static int answers(enum handle_kind asked, enum handle_kind own)
{
    if (asked != HANDLE_STREAM)
        return asked == own;
    return own == HANDLE_STREAM || own == HANDLE_CHANNEL || own == HANDLE_FILE || own == HANDLE_CONN;
}

struct handle *handle_get(enum handle_kind kind, kal_uintptr word)
{
    struct handle *handle = at(slot_of(word));
    kal_uintptr held;
    uint32_t uses;

    if (handle == NULL || (word & KIND_MASK) != (kal_uintptr)kind)
        return NULL;
    uses = __atomic_load_n(&handle->uses, __ATOMIC_RELAXED);
    do {
        if (uses == 0) /* free, or leaving */
            return NULL;
    } while (!__atomic_compare_exchange_n(&handle->uses, &uses, uses + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    held = __atomic_load_n(&handle->word, __ATOMIC_ACQUIRE);
    if ((held ^ word) >> KIND_BITS == 0 && answers(kind, (enum handle_kind)(held & KIND_MASK)))
        return handle;
    handle_put(handle);
    return NULL;
}

static void leave(struct handle *handle)
{
    uint32_t slot = slot_of(handle->word);

    if (handle->end)
        handle->end(handle);
    else if (handle->fd >= 0)
        close(handle->fd);
    pthread_mutex_lock(&lock);
    handle->next = free_slot;
    free_slot = slot;
    pthread_mutex_unlock(&lock);
}

void handle_put(struct handle *handle)
{
    if (__atomic_sub_fetch(&handle->uses, 1, __ATOMIC_ACQ_REL) == 0)
        leave(handle);
}

int handle_close(enum handle_kind kind, kal_uintptr word)
{
    struct handle *handle = handle_get(kind, word);
    kal_uintptr held = word;

    if (handle == NULL)
        return kal_err_invalid;
    /* Of two that close at once, one does: the kind is taken off the word, and none is 0. */
    if (!__atomic_compare_exchange_n(&handle->word, &held, word & ~KIND_MASK, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        handle_put(handle);
        return kal_err_invalid;
    }
    handle_put(handle);
    handle_put(handle); /* the use that it had while it was open */
    return kal_ok;
}

void handle_copied(void)
{
    for (uint32_t slot = 0; slot < slot_count; slot++) {
        struct handle *handle = at(slot);

        if (handle->uses == 0) /* free; or being ended by a task that is not here, which ends it in the original */
            continue;
        handle->uses = 1;
        if (handle->kind == HANDLE_TASK)
            handle->word &= ~KIND_MASK;
        if ((handle->word & KIND_MASK) == 0) /* closed: whoever used it is not here to end it */
            handle_put(handle);
    }
}

struct kal_stream handle_stream(kal_uintptr owner)
{
    return (struct kal_stream){(owner & ~KIND_MASK) | HANDLE_STREAM};
}

kal_uintptr handle_standard(int fd)
{
    struct handle *handle = &first_chunk[fd];
    kal_uintptr word = __atomic_load_n(&handle->word, __ATOMIC_ACQUIRE);

    if (word == 0) {
        pthread_mutex_lock(&lock);
        word = handle->word;
        if (word == 0) {
            word = fresh_word(HANDLE_STREAM, (uint32_t)fd, 0);
            handle->kind = HANDLE_STREAM;
            handle->fd = fd;
            __atomic_store_n(&handle->uses, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&handle->word, word, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&lock);
    }
    return word;
}
