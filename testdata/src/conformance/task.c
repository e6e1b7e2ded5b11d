#define INTERFACE "task"
#include "conformance.h"

static kal_u32 cell, together;
static kal_uintptr numbers[8], stacks[8];
static int on_stack[8];

static kal_u32 load(const kal_u32* from)
{
    return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

static void store(kal_u32* to, kal_u32 value)
{
    __atomic_store_n(to, value, __ATOMIC_SEQ_CST);
}

static int on_own_stack(void)
{
    void* base = 0;
    kal_uintptr size = 0;
    char here = 0;

    return kal_task_stack(&base, &size) == kal_ok && (char*)base <= &here && (kal_uintptr)(&here - (char*)base) < size;
}

static void looks(void* argument)
{
    const kal_uintptr i = (kal_uintptr)argument;
    void* base = 0;
    kal_uintptr size = 0;

    on_stack[i] = on_own_stack();
    kal_task_stack(&base, &size);
    stacks[i] = (kal_uintptr)base;
    numbers[i] = kal_task_current();
    __atomic_add_fetch(&together, 1, __ATOMIC_SEQ_CST);
    while (load(&together) < 8)
        kal_task_yield();
}

static void starting(void)
{
    struct kal_task tasks[8], u = {UNTOUCHED}, joined;
    int started = 1, ended = 1, apart = 1, on = 1, one = 1;

    for (kal_uintptr i = 0; i < 8; i++)
        started &= kal_task_start(looks, (void*)i, &tasks[i]) == kal_ok && tasks[i].h != 0;
    CHECK(kal_task_start, "starts tasks", started);
    for (int i = 0; i < 8; i++)
        ended &= kal_task_join(tasks[i]) == kal_ok;
    CHECK(kal_task_join, "waits for the end", ended && load(&together) == 8);
    for (int i = 0; i < 8; i++) {
        on &= on_stack[i];
        one &= numbers[i] != kal_task_current();
        for (int j = 0; j < i; j++) {
            apart &= stacks[i] != stacks[j];
            one &= numbers[i] != numbers[j];
        }
    }
    CHECK(kal_task_stack, "is the task's own", on && apart);
    CHECK(kal_task_current, "only the calling task has the number", one && kal_task_current() == kal_task_current());
    CHECK(kal_task_yield, "lets another run", load(&together) == 8);
    CHECK(kal_task_start, "null pointers are kal_err_invalid, and nothing is written",
          kal_task_start(0, 0, &u) == kal_err_invalid && kal_task_start(looks, 0, 0) == kal_err_invalid &&
              u.h == UNTOUCHED);
    joined = tasks[0];
    REFUSES(kal_task_join, joined.h, kal_stdin().h, kal_task_join((struct kal_task){word}) == kal_err_invalid);
}

static struct kal_task own;
static int own_join, second_join;

static void joins_itself(void* argument)
{
    (void)argument;
    kal_task_wait(&cell, 0, 0);
    own_join = kal_task_join(own);
}

static void stack(void)
{
    void* base = (void*)UNTOUCHED;
    kal_uintptr size = UNTOUCHED;

    CHECK(kal_task_stack, "of the first task", on_own_stack());
    CHECK(kal_task_stack, "null out-pointers are kal_err_invalid, and nothing is written",
          kal_task_stack(0, &size) == kal_err_invalid && kal_task_stack(&base, 0) == kal_err_invalid &&
              base == (void*)UNTOUCHED && size == UNTOUCHED);
    store(&cell, 0);
    kal_task_start(joins_itself, 0, &own);
    store(&cell, 1);
    kal_task_wake(&cell, 1, 0);
    second_join = kal_task_join(own);
    CHECK(kal_task_join, "of the caller itself is kal_err_invalid",
          own_join == kal_err_invalid && second_join == kal_ok);
}

static kal_u32 awake, waiting;

static void waits(void* argument)
{
    (void)argument;
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    while (load(&cell) == 0)
        kal_task_wait(&cell, 0, 0);
    __atomic_add_fetch(&awake, 1, __ATOMIC_SEQ_CST);
}

static void waiting_and_waking(void)
{
    const kal_u64 before = kal_time_monotonic();
    struct kal_task tasks[4];
    kal_uintptr woken = UNTOUCHED, total = 0;
    int ended = 1;

    store(&cell, 5);
    CHECK(kal_task_wait, "another value than expected is kal_ok at once", kal_task_wait(&cell, 4, 0) == kal_ok);
    CHECK(kal_task_wait, "a timeout that passes is kal_err_again, and not before",
          kal_task_wait(&cell, 5, 30 * MILLISECOND) == kal_err_again &&
              kal_time_monotonic() - before >= 30 * MILLISECOND);
    CHECK(kal_task_wait, "null and no multiple of 4 are kal_err_invalid",
          kal_task_wait(0, 0, 1) == kal_err_invalid &&
              kal_task_wait((const kal_u32*)(const void*)((const char*)&cell + 1), 0, 1) == kal_err_invalid);
    CHECK(kal_task_wake, "null and no multiple of 4 are kal_err_invalid, and nothing is written",
          kal_task_wake(0, 1, &woken) == kal_err_invalid &&
              kal_task_wake((const kal_u32*)(const void*)((const char*)&cell + 1), 1, &woken) == kal_err_invalid &&
              woken == UNTOUCHED);
    CHECK(kal_task_wake, "nobody waits", kal_task_wake(&cell, 1, &woken) == kal_ok && woken == 0);
    store(&cell, 0);
    for (int i = 0; i < 4; i++)
        kal_task_start(waits, 0, &tasks[i]);
    while (load(&waiting) < 4)
        kal_task_yield();
    CHECK(kal_task_wake, "a count of 0 wakes nobody", kal_task_wake(&cell, 0, &woken) == kal_ok && woken == 0);
    CHECK(kal_task_wait, "goes on until the value is another", load(&awake) == 0);
    for (int i = 0; i < 10000 && total == 0; i++) {
        kal_time_sleep(MILLISECOND);
        kal_task_wake(&cell, 1, &woken);
        total += woken;
    }
    CHECK(kal_task_wake, "wakes no more than the count", total == 1);
    store(&cell, 1);
    CHECK(kal_task_wake, "wakes all that wait; where they are counted may be null",
          kal_task_wake(&cell, ~(kal_uintptr)0, 0) == kal_ok);
    for (int i = 0; i < 4; i++)
        ended &= kal_task_join(tasks[i]) == kal_ok;
    CHECK(kal_task_wait, "returns when it is woken", ended && load(&awake) == 4);
}

int main(void)
{
    const kal_uintptr assigned =
        KAL_TASK_PROP_PREEMPTIVE | KAL_TASK_PROP_PARALLEL | KAL_TASK_PROP_WAIT_TIMEOUT | KAL_TASK_PROP_THREAD_LOCAL;

    CHECK(kal_task_props, "unassigned positions are 0", (kal_task_props() & ~assigned) == 0);
    CHECK(kal_task_props, "is the same at every call", kal_task_props() == kal_task_props());
    CHECK(kal_task_parallelism, "is at least 1", kal_task_parallelism() >= 1);
    starting();
    stack();
    waiting_and_waking();
    return summary();
}
