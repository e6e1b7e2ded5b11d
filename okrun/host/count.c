/* The entries that count and time the image's calls, and the table of what an import can be bound to.
 *
 * Each function of the host has two more of the same type. They are ordinary calls of it, so that nothing needs to know
 * of return addresses, of registers that hold arguments, or of how a frame is unwound; `count` ends in a jump.
 *
 * Every thread adds to a block of its own. Blocks are made, never freed: one whose thread has ended is taken over, with
 * what it has, by the next thread that begins. So nothing has to be added up when a thread ends, and the reader at the
 * end, which may be a signal handler, walks a list that only ever grows and needs no lock. */
#include "count.h"

#include <openkal/openkal.h>
#include <string.h>
#include <sys/mman.h>

#include "binding.h"
#include "clock.h"
#include "surface.gen.h"

#define OVERHEAD_ROUNDS 16
#define OVERHEAD_CALLS 256

struct block {
    struct call_stats of[KAL_FUNCTION_COUNT];
    struct block *next;
    int taken;
} __attribute__((aligned(128))); /* two lines: processors fetch them in pairs */

static struct block first = {.taken = 1};
static struct block *blocks = &first;
static _Thread_local struct block *mine __attribute__((tls_model("local-exec"))) = &first;

/* The owner is the only writer; the reader at the end may be another thread. */
static inline void add(uint64_t *cell, uint64_t n)
{
    __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static inline struct call_stats *call_begin(size_t index)
{
    struct call_stats *stats = &mine->of[index];

    add(&stats->count, 1);
    return stats;
}

/* The counters of two processors may differ by less than a call takes: time does not run backwards. */
static inline void call_end(struct call_stats *stats, uint64_t from)
{
    uint64_t ticks = clock_ticks() - from;

    if ((int64_t)ticks < 0)
        ticks = 0;
    add(&stats->ticks, ticks);
    if (ticks > stats->max)
        __atomic_store_n(&stats->max, ticks, __ATOMIC_RELAXED);
    add(&stats->log2[63 - __builtin_clzll(clock_ns(ticks) | 1)], 1);
}

#define VALUE_ENTRIES(result, name, parameters, arguments, interface)                                                  \
    static result count_##name parameters                                                                              \
    {                                                                                                                  \
        (void)call_begin(KAL_INDEX_##name);                                                                            \
        return name arguments;                                                                                         \
    }                                                                                                                  \
    static result time_##name parameters                                                                               \
    {                                                                                                                  \
        struct call_stats *stats = call_begin(KAL_INDEX_##name);                                                       \
        uint64_t from = clock_ticks();                                                                                 \
        result value = name arguments;                                                                                 \
                                                                                                                       \
        call_end(stats, from);                                                                                         \
        return value;                                                                                                  \
    }
KAL_HOSTED_VALUE(VALUE_ENTRIES)

#define VOID_ENTRIES(name, parameters, arguments, interface)                                                           \
    static void count_##name parameters                                                                                \
    {                                                                                                                  \
        (void)call_begin(KAL_INDEX_##name);                                                                            \
        name arguments;                                                                                                \
    }                                                                                                                  \
    static void time_##name parameters                                                                                 \
    {                                                                                                                  \
        struct call_stats *stats = call_begin(KAL_INDEX_##name);                                                       \
        uint64_t from = clock_ticks();                                                                                 \
                                                                                                                       \
        name arguments;                                                                                                \
        call_end(stats, from);                                                                                         \
    }
KAL_HOSTED_VOID(VOID_ENTRIES)

/* What does not return has no time: it is counted both ways. */
#define NORETURN_ENTRIES(name, parameters, arguments, interface)                                                       \
    static _Noreturn void count_##name parameters                                                                      \
    {                                                                                                                  \
        (void)call_begin(KAL_INDEX_##name);                                                                            \
        name arguments;                                                                                                \
    }
KAL_HOSTED_NORETURN(NORETURN_ENTRIES)

#define VALUE_BINDING(result, name, parameters, arguments, interface)                                                  \
    {#name, interface, (void *)name, (void *)count_##name, (void *)time_##name},
#define VOID_BINDING(name, parameters, arguments, interface) VALUE_BINDING(void, name, parameters, arguments, interface)
#define NORETURN_BINDING(name, parameters, arguments, interface)                                                       \
    {#name, interface, (void *)name, (void *)count_##name, (void *)count_##name},

const struct binding host_bindings[] = {
    KAL_HOSTED_VALUE(VALUE_BINDING) KAL_HOSTED_VOID(VOID_BINDING) KAL_HOSTED_NORETURN(NORETURN_BINDING)
};
const size_t host_binding_count = sizeof host_bindings / sizeof host_bindings[0];

const struct binding *binding_find(const char *name)
{
    for (size_t i = 0; i < host_binding_count; i++) {
        if (strcmp(host_bindings[i].name, name) == 0)
            return &host_bindings[i];
    }
    return NULL;
}

int count_thread_begin(void)
{
    struct block *block;

    for (block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); block; block = block->next) {
        int idle = 0;

        if (__atomic_compare_exchange_n(&block->taken, &idle, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            mine = block;
            return 0;
        }
    }
    block = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return -1;
    block->taken = 1;
    block->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&blocks, &block->next, block, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    mine = block;
    return 0;
}

void count_thread_end(void)
{
    __atomic_store_n(&mine->taken, 0, __ATOMIC_RELEASE);
}

bool count_total(size_t index, struct call_stats *total)
{
    *total = (struct call_stats){0};
    for (struct block *block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); block; block = block->next) {
        struct call_stats *stats = &block->of[index];
        uint64_t max = __atomic_load_n(&stats->max, __ATOMIC_RELAXED);

        total->count += __atomic_load_n(&stats->count, __ATOMIC_RELAXED);
        total->ticks += __atomic_load_n(&stats->ticks, __ATOMIC_RELAXED);
        total->max = max > total->max ? max : total->max;
        for (size_t i = 0; i < CALL_BUCKETS; i++)
            total->log2[i] += __atomic_load_n(&stats->log2[i], __ATOMIC_RELAXED);
    }
    return total->count != 0;
}

/* The shortest of some rounds of calls, in ticks: the others were interrupted. */
static uint64_t time_calls(void *function)
{
    kal_u64 (*volatile call)(void) = (kal_u64(*)(void))function;
    uint64_t shortest = UINT64_MAX;

    for (int round = 0; round < OVERHEAD_ROUNDS; round++) {
        uint64_t from = clock_ticks(), ticks;

        for (int i = 0; i < OVERHEAD_CALLS; i++)
            (void)call();
        ticks = clock_ticks() - from;
        shortest = ticks < shortest ? ticks : shortest;
    }
    return shortest;
}

uint64_t count_overhead(bool calls)
{
    const struct binding *binding = binding_find("kal_version");
    struct call_stats *stats = &mine->of[KAL_INDEX_kal_version], saved = *stats;
    uint64_t measured = time_calls(calls ? binding->calls : binding->count), plain = time_calls(binding->impl);

    *stats = saved;
    return measured > plain ? (clock_ns(measured - plain) + OVERHEAD_CALLS / 2) / OVERHEAD_CALLS : 0;
}
