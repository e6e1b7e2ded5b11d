/* The entries that count and time the image's calls, and the table of what an import can be bound to.
 *
 * Each function of the host has two more of the same type. They are ordinary calls of it, so that nothing needs to know
 * of return addresses, of registers that hold arguments, or of how a frame is unwound; `count` ends in a jump.
 *
 * Every thread adds to a block of its own. Blocks are made, never freed: one whose thread has ended is taken over, with
 * what it has, by the next thread that begins. So nothing has to be added up when a thread ends, and the reader at the
 * end, which may be a signal handler, walks a list that only ever grows and needs no lock. */
#define _GNU_SOURCE /* gettid */
#include "count.h"

#include <openkal/openkal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"
#include "clock.h"
#include "surface.gen.h"

#define OVERHEAD_ROUNDS 16
#define OVERHEAD_CALLS 256
#define TRIES 100       /* to read a call's times whole, which takes nanoseconds, unless its thread does not run */
#define WAIT_NS 100000

/* Where a function is, how it is called, and what a thread's counts are. In okhost-impl all of it is known late: of the
 * functions, but for the runner's own, when a library has been loaded, and of a thread when it calls. */
#ifdef OKHOST_IMPL
#define RUNNERS (KAL_IFACE_PROF | KAL_IFACE_DEBUG)
#define ADDRESS(name, interface) ((RUNNERS >> ((interface) & 63) & 1) != 0 ? (void *)name : NULL)
#define FUNCTION(name) ((__typeof__(&name))host_bindings[KAL_INDEX_##name].impl)
#define OWN_BLOCK (own_block != NULL ? own_block : (count_thread_found(), own_block))
#define FIRST_BLOCK NULL
#else
#define ADDRESS(name, interface) (void *)name
#define FUNCTION(name) name
#define OWN_BLOCK own_block
#define FIRST_BLOCK &first_block
#endif

struct block {
    struct call_stats of[KAL_FUNCTION_COUNT];
    struct block *next;
    int taken;
} __attribute__((aligned(128))); /* two lines: processors fetch them in pairs */

static struct block first_block = {.taken = 1};
static struct block *blocks = &first_block;
static _Thread_local struct block *own_block __attribute__((tls_model("local-exec"))) = FIRST_BLOCK;

static uint64_t threads = 1; /* that had a block; the first has one always */
static uint64_t longest[KAL_FUNCTION_COUNT]; /* of what count_take() took from the blocks */
static struct call_stats ended[KAL_FUNCTION_COUNT];

/* The owner is the only writer; readers are other threads, while calls go on, and signal handlers above the owner. */
static inline void add(uint64_t *cell, uint64_t n, int order)
{
    __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + n, order);
}

static inline struct call_stats *call_begin(size_t index)
{
    struct call_stats *stats = &OWN_BLOCK->of[index];

    add(&stats->count, 1, __ATOMIC_RELAXED);
    return stats;
}

/* The counters of two processors may differ by less than a call takes: time does not run backwards. */
static inline void call_end(struct call_stats *stats, uint64_t from)
{
    uint64_t ticks = clock_ticks() - from;

    if ((int64_t)ticks < 0)
        ticks = 0;
    add(&stats->entered, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    add(&stats->ticks, ticks, __ATOMIC_RELAXED);
    if (ticks > __atomic_load_n(&stats->max, __ATOMIC_RELAXED))
        __atomic_store_n(&stats->max, ticks, __ATOMIC_RELEASE);
    add(&stats->log2[63 - __builtin_clzll(clock_ns(ticks) | 1)], 1, __ATOMIC_RELEASE);
    add(&stats->entered, 1, __ATOMIC_RELEASE);
}

/* Names of their own end in an underscore: no parameter of the surface does. */
#define VALUE_ENTRIES(result, name, parameters, arguments, interface)                                                  \
    static result count_##name parameters                                                                              \
    {                                                                                                                  \
        (void)call_begin(KAL_INDEX_##name);                                                                            \
        return FUNCTION(name) arguments;                                                                               \
    }                                                                                                                  \
    static result time_##name parameters                                                                               \
    {                                                                                                                  \
        struct call_stats *stats_ = call_begin(KAL_INDEX_##name);                                                      \
        uint64_t from_ = clock_ticks();                                                                                \
        result value_ = FUNCTION(name) arguments;                                                                      \
                                                                                                                       \
        call_end(stats_, from_);                                                                                       \
        return value_;                                                                                                 \
    }
KAL_HOSTED_VALUE(VALUE_ENTRIES)

#define VOID_ENTRIES(name, parameters, arguments, interface)                                                           \
    static void count_##name parameters                                                                                \
    {                                                                                                                  \
        (void)call_begin(KAL_INDEX_##name);                                                                            \
        FUNCTION(name) arguments;                                                                                      \
    }                                                                                                                  \
    static void time_##name parameters                                                                                 \
    {                                                                                                                  \
        struct call_stats *stats_ = call_begin(KAL_INDEX_##name);                                                      \
        uint64_t from_ = clock_ticks();                                                                                \
                                                                                                                       \
        FUNCTION(name) arguments;                                                                                      \
        call_end(stats_, from_);                                                                                       \
    }
KAL_HOSTED_VOID(VOID_ENTRIES)

/* What does not return has no time: it is counted both ways. */
#define NORETURN_ENTRIES(name, parameters, arguments, interface)                                                       \
    static _Noreturn void count_##name parameters                                                                      \
    {                                                                                                                  \
        (void)call_begin(KAL_INDEX_##name);                                                                            \
        FUNCTION(name) arguments;                                                                                      \
    }
KAL_HOSTED_NORETURN(NORETURN_ENTRIES)

#define BINDING(name, interface, timed)                                                                                \
    [KAL_INDEX_##name] = {#name, interface, ADDRESS(name, interface), (void *)count_##name, (void *)timed},
#define VALUE_BINDING(result, name, parameters, arguments, interface) BINDING(name, interface, time_##name)
#define VOID_BINDING(name, parameters, arguments, interface) BINDING(name, interface, time_##name)
#define NORETURN_BINDING(name, parameters, arguments, interface) BINDING(name, interface, count_##name)

BINDINGS host_bindings[KAL_FUNCTION_COUNT] = {
    KAL_HOSTED_VALUE(VALUE_BINDING) KAL_HOSTED_VOID(VOID_BINDING) KAL_HOSTED_NORETURN(NORETURN_BINDING)
};
const size_t host_binding_count = sizeof host_bindings / sizeof host_bindings[0];

const struct binding *binding_find(const char *name)
{
    for (size_t i = 0; i < host_binding_count; i++) {
        if (host_bindings[i].impl != NULL && strcmp(host_bindings[i].name, name) == 0)
            return &host_bindings[i];
    }
    return NULL;
}

void count_forget(void)
{
    for (struct block *block = blocks; block; block = block->next) {
        memset(block->of, 0, sizeof block->of);
        block->taken = block == own_block;
    }
    memset(longest, 0, sizeof longest);
    threads = 1;
}

void *count_thread_new(void)
{
    struct block *block;

    for (block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); block; block = block->next) {
        int idle = __atomic_load_n(&block->taken, __ATOMIC_RELAXED);

        if (idle == 0 && __atomic_compare_exchange_n(&block->taken, &idle, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return block;
    }
    block = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    block->taken = 1;
    block->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&blocks, &block->next, block, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return block;
}

void count_thread_begin(void *counts)
{
    own_block = counts;
    if (counts && gettid() != getpid())
        __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
}

void count_thread_end(void *counts)
{
    __atomic_store_n(&((struct block *)counts)->taken, 0, __ATOMIC_RELEASE);
}

uint64_t count_threads(void)
{
    return __atomic_load_n(&threads, __ATOMIC_RELAXED);
}

static struct block *first(void)
{
    return __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
}

static void raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        __atomic_store_n(most, value, __ATOMIC_RELEASE);
}

/* Take a thread's longest call, and have it begin at 0 again. What was taken is never only here: a signal may end the
 * process now. The owner's "if it is longer, store it" loses nothing meanwhile. What it stores after this is of the next
 * phase; and what it does not store, having seen the value from before this, is shorter than what is taken. */
static void take_max(struct call_stats *stats, size_t index, uint64_t *most)
{
    uint64_t max = __atomic_load_n(&stats->max, __ATOMIC_ACQUIRE);

    do {
        raise_to(&longest[index], max);
        raise_to(most, max);
    } while (max != 0 && !__atomic_compare_exchange_n(&stats->max, &max, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

/* Read the times of a thread's calls, and false where one was being entered: then the histogram may lack it, which is
 * read first, and the rest may have it. */
static bool read_times(struct call_stats *stats, struct call_stats *seen, size_t index, uint64_t *most)
{
    uint64_t entered = __atomic_load_n(&stats->entered, __ATOMIC_ACQUIRE);

    if (entered == 0)
        return true;
    for (size_t i = 0; i < CALL_BUCKETS; i++)
        seen->log2[i] = __atomic_load_n(&stats->log2[i], __ATOMIC_ACQUIRE);
    if (most == NULL)
        seen->max = __atomic_load_n(&stats->max, __ATOMIC_ACQUIRE);
    else if (entered % 2 == 0)
        take_max(stats, index, most);
    seen->ticks = __atomic_load_n(&stats->ticks, __ATOMIC_RELAXED);
    seen->entered = entered;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return entered % 2 == 0 && entered == __atomic_load_n(&stats->entered, __ATOMIC_RELAXED);
}

/* Add up what all threads have; where most is null, without waiting for any. */
static void add_all(size_t index, struct call_stats *total, uint64_t *most)
{
    static const struct call_stats none;
    const struct timespec wait = {0, WAIT_NS};

    *total = none;
    for (struct block *block = first(); block; block = block->next) {
        struct call_stats seen = none;

        for (int tries = 1; !read_times(&block->of[index], &seen, index, most); tries++) {
            if (tries % TRIES != 0)
                continue;
            if (most == NULL)
                break;
            nanosleep(&wait, NULL);
        }
        seen.count = __atomic_load_n(&block->of[index].count, __ATOMIC_RELAXED);
        stats_add(total, &seen, &none);
        raise_to(&total->max, seen.max);
    }
}

bool count_moved(size_t index, const struct call_stats *since)
{
    uint64_t count = 0, entered = 0;

    for (struct block *block = first(); block; block = block->next) {
        count += __atomic_load_n(&block->of[index].count, __ATOMIC_RELAXED);
        entered += __atomic_load_n(&block->of[index].entered, __ATOMIC_RELAXED);
    }
    return count != since->count || entered != since->entered;
}

void count_take(size_t index, struct call_stats *total, uint64_t *most)
{
    add_all(index, total, most);
}

void count_end(void)
{
    for (size_t i = 0; i < KAL_FUNCTION_COUNT; i++)
        add_all(i, &ended[i], NULL);
}

const struct call_stats *count_ended(size_t index)
{
    return &ended[index];
}

uint64_t count_longest(size_t index)
{
    return ended[index].max > longest[index] ? ended[index].max : longest[index];
}

/* The shortest of some rounds of calls, in ticks: the others were interrupted. */
static uint64_t time_calls(void *function)
{
    kal_uintptr (*volatile call)(void) = (kal_uintptr(*)(void))function;
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

/* The runner's own function, which is harmless wherever a process ends, and counts that are in no list. */
uint64_t count_overhead(bool calls)
{
    static struct block none;
    const struct binding *binding = &host_bindings[KAL_INDEX_kal_prof_props];
    struct block *saved = own_block;
    uint64_t measured, plain;

    own_block = &none;
    measured = time_calls(calls ? binding->calls : binding->count);
    plain = time_calls(binding->impl);
    own_block = saved;
    return measured > plain ? (10 * clock_ns(measured - plain) + OVERHEAD_CALLS / 2) / OVERHEAD_CALLS : 0;
}
