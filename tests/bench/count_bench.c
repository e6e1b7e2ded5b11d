/* What counting and timing add to a call.
 *
 *     cc -O2 -static-pie ... count_bench.c okrun/host/{count,stats,json,clock,text}.c -pthread
 *     count_bench [ROUNDS] [CALLS]
 *
 * Every function of the host is here one that does next to nothing; they are called as an image calls them, through a
 * word that was bound once. In each round every way is measured on one thread and on two that run at once, and printed
 * as a line of JSON: {"measure": "off" | "count" | "calls", "threads", "calls", "ns_per_call"}; calls are a thread's.
 * When all has run, the counts must be exact, or the status is 1. */
#include <openkal/openkal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binding.h"
#include "clock.h"
#include "count.h"
#include "surface.gen.h"

#define MOST_THREADS 2

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define VALUE(result, name, parameters, arguments, interface)                                                          \
    result name parameters                                                                                             \
    {                                                                                                                  \
        result value;                                                                                                  \
                                                                                                                       \
        memset(&value, 0, sizeof value);                                                                               \
        return value;                                                                                                  \
    }
#define VOID(name, parameters, arguments, interface)                                                                   \
    void name parameters                                                                                               \
    {                                                                                                                  \
    }
#define NORETURN(name, parameters, arguments, interface)                                                               \
    void name parameters                                                                                               \
    {                                                                                                                  \
        exit(1);                                                                                                       \
    }
KAL_HOSTED_VALUE(VALUE)
KAL_HOSTED_VOID(VOID)
KAL_HOSTED_NORETURN(NORETURN)

typedef kal_intptr write_function(struct kal_stream, const void *, kal_uintptr);

struct run {
    pthread_barrier_t *begin;
    write_function *volatile word; /* what an image's GOT holds */
    uint64_t calls;
    uint64_t ns;
};

/* The thread's own time: what waits for a processor is no cost of a call, what waits for a cache line is. */
static uint64_t own_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void *run_calls(void *argument)
{
    struct run *run = argument;
    struct kal_stream stream = {1};
    void *counts = count_thread_new();
    uint64_t start;

    if (counts == NULL)
        exit(1);
    count_thread_begin(counts);
    pthread_barrier_wait(run->begin);
    start = own_ns();
    for (uint64_t i = 0; i < run->calls; i++)
        (void)run->word(stream, NULL, i);
    run->ns = own_ns() - start;
    count_thread_end(counts);
    return NULL;
}

/* The slowest thread's time a call. */
static double measure(void *function, unsigned threads, uint64_t calls)
{
    pthread_t thread[MOST_THREADS];
    struct run runs[MOST_THREADS];
    pthread_barrier_t begin;
    uint64_t slowest = 0;

    pthread_barrier_init(&begin, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        runs[i] = (struct run){&begin, (write_function *)function, calls, 0};
        if (pthread_create(&thread[i], NULL, run_calls, &runs[i]) != 0)
            exit(1);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        slowest = runs[i].ns > slowest ? runs[i].ns : slowest;
    }
    pthread_barrier_destroy(&begin);
    return (double)slowest / (double)calls;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"off", "count", "calls"};
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
    uint64_t calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
    const struct binding *b = binding_find("kal_stream_write");
    void *const ways[] = {b->impl, b->count, b->calls};
    uint64_t want = rounds * calls * (1 + 2) * 2; /* on one thread and on two; counted, and timed */

    clock_begin(clock_best());
    clock_settle();
    for (unsigned long round = 0; round < rounds; round++) {
        for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
            for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
                printf("{\"measure\":\"%s\",\"threads\":%u,\"calls\":%llu,\"ns_per_call\":%.3f}\n", names[way], threads,
                       (unsigned long long)calls, measure(ways[way], threads, calls));
        }
    }
    count_end();
    if (count_ended(KAL_INDEX_kal_stream_write)->count != want) {
        fprintf(stderr, "the counts are wrong (got %llu, want %llu)\n",
                (unsigned long long)count_ended(KAL_INDEX_kal_stream_write)->count, (unsigned long long)want);
        return 1;
    }
    return 0;
}
