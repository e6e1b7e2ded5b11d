/* task: calls every function of openkal.task. Status 0, or a line on standard error that says what is not so.
 *
 * task many: 10,000 tasks one after another, then 1,000 at once, leave nothing behind.
 * task race: eight tasks call at once, CALLS times each; 100 more come and go, with one call each.
 * task end WAY: ends while tasks run: eight have made CALLS calls and wait, two go on calling.
 * task overflow, task fault: how one task ends the program.
 * task full: starts tasks until none starts, and says `full` if that is for want of memory.
 * task parallelism: says it. */
#include <openkal/image.h>

#include "maps.h"

#define STACK (1 << 20)
#define CALLS 1000
#define TASKS 8

OPENKAL_IMAGE(KAL_IFACE_ABORT | KAL_IFACE_STREAM | KAL_IFACE_ENV | KAL_IFACE_TIME | KAL_IFACE_FS | KAL_IFACE_TASK, 0,
              STACK)

static struct kal_task tasks[1000];
static kal_u32 done, never;
static volatile int* nowhere;

static struct kal_task started(void (*entry)(void*), void* arg)
{
    struct kal_task task = {0};

    EXPECT(kal_task_start(entry, arg, &task) == kal_ok && task.h != 0);
    return task;
}

static void add_one(void* word)
{
    __atomic_add_fetch((kal_u32*)word, 1, __ATOMIC_SEQ_CST);
}

static void has_its_stack(void* first)
{
    kal_uintptr size = 0, current = kal_task_current();
    void* base = 0;
    char here;

    EXPECT(kal_task_stack(&base, &size) == kal_ok && size == STACK);
    EXPECT(&here >= (char*)base && &here < (char*)base + size);
    EXPECT(current != 0 && current == kal_task_current());
    EXPECT(kal_task_stack(0, &size) == kal_err_invalid && kal_task_stack(&base, 0) == kal_err_invalid);
    if (first)
        EXPECT(current != *(kal_uintptr*)first);
}

static void look_at_all(void)
{
    kal_uintptr current = kal_task_current(), woken = 77;
    struct kal_task task = {77};
    kal_u32 word = 5;

    has_its_stack(0);
    task = started(has_its_stack, &current);
    EXPECT(kal_task_join(task) == kal_ok && kal_task_join(task) == kal_err_invalid);
    EXPECT(kal_task_start(0, 0, &task) == kal_err_invalid && kal_task_start(add_one, &word, 0) == kal_err_invalid);
    EXPECT(kal_task_wait(&word, 4, 0) == kal_ok && kal_task_wait(&word, 5, 1000000) == kal_err_again);
    EXPECT(kal_task_wait(0, 4, 0) == kal_err_invalid && kal_task_wake(0, 1, &woken) == kal_err_invalid && woken == 77);
    EXPECT(kal_task_wake(&word, 1, &woken) == kal_ok && woken == 0 && kal_task_wake(&word, 1, 0) == kal_ok);
    kal_task_yield();
    EXPECT(kal_task_parallelism() > 0);
    EXPECT(kal_task_props() == (KAL_TASK_PROP_PREEMPTIVE | KAL_TASK_PROP_PARALLEL | KAL_TASK_PROP_WAIT_TIMEOUT));
}

static void many(void)
{
    kal_uintptr before;
    kal_u32 ran = 0;

    for (int i = 0; i < 10010; i++) {
        if (i == 10)
            before = maps_with(0).count;
        EXPECT(kal_task_join(started(add_one, &ran)) == kal_ok);
    }
    EXPECT(ran == 10010 && maps_with(0).count <= before + 2);
    for (int i = 0; i < 1000; i++)
        tasks[i] = started(add_one, &ran);
    for (int i = 0; i < 1000; i++)
        EXPECT(kal_task_join(tasks[i]) == kal_ok);
    EXPECT(ran == 11010);
}

static void call(void* unused)
{
    (void)unused;
    for (int i = 0; i < CALLS; i++)
        kal_time_monotonic();
    add_one(&done);
}

static void call_once(void* unused)
{
    (void)unused;
    kal_time_wall();
}

static void race(void)
{
    for (int i = 0; i < TASKS; i++)
        tasks[i] = started(call, 0);
    for (int i = 0; i < 100; i++)
        EXPECT(kal_task_join(started(call_once, 0)) == kal_ok);
    for (int i = 0; i < TASKS; i++)
        EXPECT(kal_task_join(tasks[i]) == kal_ok);
}

static void call_and_wait(void* unused)
{
    call(unused);
    for (;;)
        kal_task_wait(&never, 0, 0);
}

static void go_on(void* unused)
{
    (void)unused;
    for (;;)
        kal_task_yield();
}

__attribute__((noinline)) static void fault(void* unused)
{
    (void)unused;
    *nowhere = 1;
}

__attribute__((noinline)) static void fault_in_task(void* unused)
{
    fault(unused);
    nowhere = 0; /* no tail call */
}

static void leave(void* unused)
{
    (void)unused;
    kal_exit(3);
}

static void give_up(void* unused)
{
    (void)unused;
    kal_abort("gave up", 7);
}

/* A frame is smaller than the guard. */
__attribute__((noinline)) static int dive(volatile int depth)
{
    volatile char block[32768];

    block[0] = (char)depth;
    return dive(depth + 1) + block[0];
}

static void dive_in_task(void* unused)
{
    (void)unused;
    never = (kal_u32)dive(0);
}

/* The other end is a task's or, without `task-` before it, this one's. */
static int end(const char* way)
{
    void (*const entries[])(void*) = {leave, give_up, fault_in_task};
    static const char* const names[] = {"exit", "abort", "crash"};
    int in_task = size_of(way) > 5 && same(way, "task-", 5);

    for (int i = 0; i < TASKS; i++)
        started(call_and_wait, 0);
    started(go_on, 0);
    started(go_on, 0);
    do
        kal_task_yield();
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < TASKS);
    for (int i = 0; i < 3; i++) {
        if (!same(way + (in_task ? 5 : 0), names[i], size_of(names[i])))
            continue;
        if (!in_task)
            entries[i](0);
        started(entries[i], 0);
        for (;;)
            kal_task_yield();
    }
    if (same(way, "kill", 4)) {
        say(kal_stdout(), "ready\n");
        for (;;)
            kal_task_wait(&never, 0, 0);
    }
    return 3;
}

static void wait_for_done(void* unused)
{
    (void)unused;
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0)
        kal_task_wait(&done, 0, 0);
}

static void fill(void)
{
    int count = 0, error = kal_ok;

    while (count < 1000 && (error = kal_task_start(wait_for_done, 0, &tasks[count])) == kal_ok)
        count++;
    EXPECT(count > 0 && error == kal_err_no_memory);
    done = 1;
    kal_task_wake(&done, 1000, 0);
    while (count-- > 0)
        EXPECT(kal_task_join(tasks[count]) == kal_ok);
    EXPECT(kal_task_join(started(add_one, &done)) == kal_ok); /* now there is room again */
    say(kal_stdout(), "full\n");
}

int main(int argc, char** argv)
{
    const char* command = argc > 1 ? argv[1] : "";

    if (argc == 1)
        look_at_all();
    else if (same(command, "many", 5))
        many();
    else if (same(command, "race", 5))
        race();
    else if (same(command, "full", 5))
        fill();
    else if (same(command, "overflow", 9))
        kal_task_join(started(dive_in_task, 0));
    else if (same(command, "fault", 6))
        kal_task_join(started(fault_in_task, 0));
    else if (same(command, "parallelism", 12))
        say_number(kal_stdout(), kal_task_parallelism());
    else
        return end(argv[2]);
    return 0;
}
