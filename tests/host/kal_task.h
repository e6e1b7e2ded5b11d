/* A program of the host's openkal.task, whose threads begin and end with nothing else of the host. */
#ifndef TEST_KAL_TASK_H
#define TEST_KAL_TASK_H

#include <openkal/task.h>
#include <time.h>

#include "check.h"
#include "load.h"
#include "measure.h"

#define STACK (16 * PLAN_PAGE)
#define MILLISECOND UINT64_C(1000000)

static struct plan_header header = {.stack = STACK};
static struct plan plan = {.header = &header};
struct image host_image = {.plan = &plan, .fd = -1};

/* What else of the host a thread begins and ends with: here it is only counted. */
static bool no_counts;
static int counts_open, handlers_open;

void *measure_thread_new(void)
{
    if (no_counts)
        return NULL;
    __atomic_add_fetch(&counts_open, 1, __ATOMIC_SEQ_CST);
    return &counts_open;
}

void measure_thread_begin(void *counts)
{
    CHECK(counts == &counts_open);
}

void measure_thread_end(void *counts)
{
    CHECK(counts == &counts_open);
    __atomic_sub_fetch(&counts_open, 1, __ATOMIC_SEQ_CST);
}

void fault_thread_begin(void)
{
    __atomic_add_fetch(&handlers_open, 1, __ATOMIC_SEQ_CST);
}

void fault_thread_end(void)
{
    __atomic_sub_fetch(&handlers_open, 1, __ATOMIC_SEQ_CST);
}

static inline struct kal_task started(void (*entry)(void *), void *argument)
{
    struct kal_task task = {0};

    CHECK(kal_task_start(entry, argument, &task) == kal_ok && task.h != 0);
    return task;
}

static inline void join(struct kal_task task)
{
    CHECK(kal_task_join(task) == kal_ok);
}

static inline void wait_while(const kal_u32 *word, kal_u32 value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
        CHECK(kal_task_wait(word, value, 0) == kal_ok);
}

static inline void set(kal_u32 *word, kal_u32 value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    CHECK(kal_task_wake(word, UINT64_MAX, NULL) == kal_ok);
}

static inline void pause_for(uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Tasks that wait once each, so that whoever returns was woken. */
struct crowd {
    kal_u32 word, returned;
};

static inline void wait_once(void *argument)
{
    struct crowd *m = argument;

    CHECK(kal_task_wait(&m->word, 0, 0) == kal_ok);
    __atomic_add_fetch(&m->returned, 1, __ATOMIC_SEQ_CST);
}

static inline void wake_in_all(struct crowd *m, kal_uintptr most, kal_uintptr number)
{
    for (kal_uintptr total = 0, woken = 77; total < number; total += woken) {
        CHECK(kal_task_wake(&m->word, most, &woken) == kal_ok && woken <= most && woken <= number - total);
        kal_task_yield();
    }
}

#endif
