/* Exact counts, times and buckets, with a clock that says what the test wants, and functions that take that long.
 * SPEC: PROF-2, PROF-3, REP-1, BIND-5 */
#include <openkal/openkal.h>
#include <pthread.h>
#include <string.h>

#include "binding.h"
#include "check.h"
#include "clock.h"
#include "count.h"
#include "surface.gen.h"

#define THREADS 4
#define CALLS 100000
#define GENERATIONS 3
#define LOOKS 20000

struct clock host_clock = {CLOCK_OF_KERNEL, UINT64_C(1) << 32};
static _Thread_local uint64_t now;
static _Thread_local uint64_t a_call_takes;
static _Thread_local uint64_t a_look_takes; /* at the clock */
static _Thread_local unsigned props_calls;

uint64_t clock_kernel_ns(void)
{
    return now += a_look_takes;
}

/* Every function of the host, each taking as long as the test says. */
#define VALUE(result, name, parameters, arguments, interface)                                                          \
    result name parameters                                                                                             \
    {                                                                                                                  \
        result value;                                                                                                  \
                                                                                                                       \
        memset(&value, 0, sizeof value);                                                                               \
        now += a_call_takes;                                                                                           \
        props_calls += KAL_INDEX_##name == KAL_INDEX_kal_prof_props;                                                   \
        return value;                                                                                                  \
    }
#define VOID(name, parameters, arguments, interface)                                                                   \
    void name parameters                                                                                               \
    {                                                                                                                  \
        now += a_call_takes;                                                                                           \
    }
#define NORETURN(name, parameters, arguments, interface)                                                               \
    void name parameters                                                                                               \
    {                                                                                                                  \
        pthread_exit(NULL);                                                                                            \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
KAL_HOSTED_VALUE(VALUE)
KAL_HOSTED_VOID(VOID)
KAL_HOSTED_NORETURN(NORETURN)

static struct call_stats stats_of(size_t index)
{
    struct call_stats total;

    count_end();
    total = *count_ended(index);
    CHECK(total.entered % 2 == 0);
    return total;
}

static void every_function_is_bound_three_ways(void)
{
    size_t hosted = 0;
#define ONE(...) hosted++;
    KAL_HOSTED_VALUE(ONE)
    KAL_HOSTED_VOID(ONE)
    KAL_HOSTED_NORETURN(ONE)

    CHECK(host_binding_count == hosted);
    for (size_t i = 0; i < host_binding_count; i++) {
        const struct binding *b = &host_bindings[i];

        CHECK(binding_find(b->name) == b);
        CHECK(b->impl && b->count && b->calls && b->impl != b->count && b->impl != b->calls);
    }
    CHECK(binding_find("kal_alloc")->impl == (void *)kal_alloc);
    CHECK(binding_find("kal_alloc")->interface == 2 && binding_find("kal_version")->interface == -1);
    CHECK(!binding_find("kal_net_connect2") && !binding_find("kal_") && !binding_find(""));
}

static void a_call_falls_into_the_bucket_of_its_nanoseconds(void)
{
    static const struct {
        uint64_t ns;
        unsigned bucket;
    } known[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 3}, {1023, 9}, {1024, 10}, {UINT64_C(1) << 62, 62}};
    struct kal_stream (*call)(void) = (struct kal_stream(*)(void))binding_find("kal_stdout")->calls;
    uint64_t sum = 0, want[CALL_BUCKETS] = {0};
    struct call_stats total = stats_of(KAL_INDEX_kal_stdout);

    CHECK(total.count == 0 && total.entered == 0);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        a_call_takes = known[i].ns;
        (void)call();
        want[known[i].bucket]++;
        sum += known[i].ns;
    }
    total = stats_of(KAL_INDEX_kal_stdout);
    CHECK(total.count == sizeof known / sizeof known[0] && total.entered == 2 * total.count);
    CHECK(total.ticks == sum && total.max == UINT64_C(1) << 62);
    CHECK(memcmp(total.log2, want, sizeof want) == 0);
}

static void time_does_not_run_backwards(void)
{
    kal_uintptr (*call)(void) = (kal_uintptr(*)(void))binding_find("kal_random_props")->calls;
    struct call_stats total;

    a_call_takes = (uint64_t)-5;
    (void)call();
    total = stats_of(KAL_INDEX_kal_random_props);
    CHECK(total.count == 1 && total.ticks == 0 && total.max == 0 && total.log2[0] == 1);
    a_call_takes = 0;
}

static void counting_takes_no_time(void)
{
    struct kal_stream (*call)(void) = (struct kal_stream(*)(void))binding_find("kal_stdin")->count;
    struct call_stats total;

    a_call_takes = 9;
    for (int i = 0; i < 1000; i++)
        (void)call();
    total = stats_of(KAL_INDEX_kal_stdin);
    CHECK(total.count == 1000 && total.ticks == 0 && total.max == 0);
    a_call_takes = 0;
}

static void *one_thread(void *end)
{
    void (*call)(kal_duration) = (void (*)(kal_duration))binding_find("kal_time_sleep")->calls;
    void (*leave)(int) = (void (*)(int))binding_find("kal_exit")->calls;

    void *counts = count_thread_new();

    CHECK(counts != NULL);
    count_thread_begin(counts);
    a_call_takes = 3;
    for (int i = 0; i < CALLS; i++)
        call(0);
    if (end)
        leave(0);
    count_thread_end(counts);
    return NULL;
}

static void threads_lose_nothing_and_what_ended_is_kept(void)
{
    uint64_t calls = (uint64_t)GENERATIONS * THREADS * CALLS;
    struct call_stats total;

    for (int generation = 0; generation < GENERATIONS; generation++) {
        pthread_t threads[THREADS];

        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, one_thread, generation == 0 ? threads : NULL) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
    total = stats_of(KAL_INDEX_kal_time_sleep);
    CHECK(total.count == calls && total.ticks == 3 * calls && total.max == 3 && total.log2[1] == calls);
    CHECK(stats_of(KAL_INDEX_kal_exit).count == THREADS);
}

/* What is taken at two moments comes to the whole, and each has its own longest call. */
static void what_is_taken_comes_to_the_whole(void)
{
    kal_uintptr (*call)(void) = (kal_uintptr(*)(void))binding_find("kal_memory_granularity")->calls;
    struct call_stats first, second;
    uint64_t longest = 2, after = 0;

    CHECK(!count_moved(KAL_INDEX_kal_memory_granularity, &(struct call_stats){0}));
    a_call_takes = 9;
    (void)call();
    a_call_takes = 4;
    (void)call();
    CHECK(count_moved(KAL_INDEX_kal_memory_granularity, &(struct call_stats){0}));
    count_take(KAL_INDEX_kal_memory_granularity, &first, &longest);
    CHECK(first.count == 2 && first.entered == 4 && first.ticks == 13 && longest == 9);
    CHECK(!count_moved(KAL_INDEX_kal_memory_granularity, &first));
    (void)call();
    count_take(KAL_INDEX_kal_memory_granularity, &second, &after);
    CHECK(second.count == 3 && second.ticks == 17 && second.log2[2] == 2 && after == 4);
    a_call_takes = 3;
    (void)call();
    CHECK(stats_of(KAL_INDEX_kal_memory_granularity).max == 3);
    CHECK(count_longest(KAL_INDEX_kal_memory_granularity) == 9);
    a_call_takes = 0;
}

static bool enough;

static void *call_until_enough(void *unused)
{
    kal_uintptr (*call)(void) = (kal_uintptr(*)(void))binding_find("kal_fs_max_name")->calls;
    void *counts = count_thread_new();

    CHECK(counts != NULL);
    count_thread_begin(counts);
    a_call_takes = 5;
    while (!__atomic_load_n(&enough, __ATOMIC_RELAXED))
        (void)call();
    count_thread_end(counts);
    return unused;
}

/* Whoever looks while others call sees of each call all or nothing. */
static void calls_are_taken_whole(void)
{
    pthread_t threads[THREADS];
    struct call_stats seen;
    uint64_t longest = 0;

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call_until_enough, NULL) == 0);
    for (int i = 0; i < LOOKS; i++) {
        count_take(KAL_INDEX_kal_fs_max_name, &seen, &longest);
        CHECK(seen.entered % 2 == 0 && seen.ticks == 5 * (seen.entered / 2) && seen.log2[2] == seen.entered / 2);
        CHECK(seen.count >= seen.entered / 2 && longest == (seen.entered == 0 ? 0 : 5));
    }
    __atomic_store_n(&enough, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(stats_of(KAL_INDEX_kal_fs_max_name).max <= 5 && count_longest(KAL_INDEX_kal_fs_max_name) == 5);
}

static void measuring_the_measuring_leaves_no_trace(void)
{
    kal_uintptr (*call)(void) = (kal_uintptr(*)(void))binding_find("kal_prof_props")->calls;
    struct call_stats total;

    (void)call();
    a_call_takes = 11;
    props_calls = 0;
    CHECK(count_overhead(true) == 0); /* this clock stands while entries work: they add nothing */
    CHECK(props_calls > 1000);
    a_look_takes = 3; /* but to look at it, which a timed call does twice */
    CHECK(count_overhead(true) == 60 && count_overhead(false) == 0);
    a_look_takes = 0;
    total = stats_of(KAL_INDEX_kal_prof_props);
    CHECK(total.count == 1 && total.ticks == 0 && total.log2[0] == 1);
}

/* The first thread is counted from the start, the others once each. */
static void threads_are_counted(void)
{
    CHECK(count_threads() == 1 + (GENERATIONS + 1) * THREADS);
    count_forget();
    CHECK(count_threads() == 1 && stats_of(KAL_INDEX_kal_time_sleep).count == 0);
    CHECK(count_longest(KAL_INDEX_kal_memory_granularity) == 0);
}

int main(void)
{
    every_function_is_bound_three_ways();
    a_call_falls_into_the_bucket_of_its_nanoseconds();
    time_does_not_run_backwards();
    counting_takes_no_time();
    threads_lose_nothing_and_what_ended_is_kept();
    what_is_taken_comes_to_the_whole();
    calls_are_taken_whole();
    measuring_the_measuring_leaves_no_trace();
    threads_are_counted();
    return 0;
}
