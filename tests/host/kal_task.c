/* openkal.task of the native host: starting and joining.                          SPEC: TASK-1, TASK-2, TASK-3 */
#define _GNU_SOURCE
#include "kal_task.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_STACK (UINT64_C(1) << 62) /* larger than any address space */
#define ONE_AFTER_ANOTHER 1000
#define AT_ONCE 1000

static int mappings(void)
{
    FILE *list = fopen("/proc/self/maps", "r");
    int lines = 0;

    CHECK(list != NULL);
    for (int c; (c = getc(list)) != EOF;)
        lines += c == '\n';
    fclose(list);
    return lines;
}

static void add_one(void *word)
{
    __atomic_add_fetch((kal_u32 *)word, 1, __ATOMIC_SEQ_CST);
}

static void a_task_runs_and_is_joined(void)
{
    struct kal_task task;
    kal_u32 ran = 0;

    task = started(add_one, &ran);
    join(task);
    CHECK(ran == 1);
    CHECK(kal_task_join(task) == kal_err_invalid); /* a second time */
    CHECK(kal_task_join((struct kal_task){0}) == kal_err_invalid);
    CHECK(kal_task_join((struct kal_task){1}) == kal_err_invalid);
    CHECK(kal_task_join((struct kal_task){UINT64_MAX}) == kal_err_invalid);
    task.h = 77;
    CHECK(kal_task_start(NULL, NULL, &task) == kal_err_invalid && task.h == 77);
    CHECK(kal_task_start(add_one, &ran, NULL) == kal_err_invalid && ran == 1);
}

struct meeting {
    struct kal_task self, other;
    kal_u32 begin;
    int result;
};

static void join_itself(void *argument)
{
    struct meeting *m = argument;

    wait_while(&m->begin, 0);
    m->result = kal_task_join(m->self);
}

static kal_u32 over; /* joins */

static void join_other(void *argument)
{
    struct meeting *m = argument;

    wait_while(&m->begin, 0);
    m->result = kal_task_join(m->other);
    add_one(&over);
    CHECK(kal_task_wake(&over, 1, NULL) == kal_ok);
}

static void nobody_joins_itself(void)
{
    struct meeting m = {.result = -1};

    m.self = started(join_itself, &m);
    set(&m.begin, 1);
    join(m.self);
    CHECK(m.result == kal_err_invalid);
}

/* Of those that join each other in a ring one is refused, whenever each comes to it, and ends; so the others end. */
static void none_wait_for_each_other(int count)
{
    struct meeting ring[3];
    int refused = -1;

    over = 0;
    for (int i = 0; i < count; i++) {
        ring[i] = (struct meeting){.result = -1};
        ring[i].self = started(join_other, &ring[i]);
    }
    for (int i = 0; i < count; i++) {
        ring[i].other = ring[(i + 1) % count].self;
        set(&ring[i].begin, 1);
    }
    for (kal_u32 so_far; (so_far = __atomic_load_n(&over, __ATOMIC_ACQUIRE)) < (kal_u32)count;)
        wait_while(&over, so_far);
    for (int i = 0; i < count; i++) {
        CHECK(ring[i].result == kal_ok || (ring[i].result == kal_err_invalid && refused == -1));
        if (ring[i].result != kal_ok)
            refused = i;
    }
    CHECK(refused != -1);
    for (int i = 0; i < count; i++) /* the one after it is left: nobody has joined that */
        CHECK(kal_task_join(ring[i].self) == (i == (refused + 1) % count ? kal_ok : kal_err_invalid));
}

static void wait_for_begin(void *argument)
{
    wait_while(&((struct meeting *)argument)->begin, 0);
}

/* Of several that join one task, one does. */
static void one_joins(void)
{
    struct meeting target = {0}, joiners[4] = {{.begin = 0}};
    struct kal_task tasks[4];
    int joined = 0;

    target.self = started(wait_for_begin, &target);
    for (int i = 0; i < 4; i++) {
        joiners[i] = (struct meeting){.other = target.self, .begin = 1, .result = -1};
        tasks[i] = started(join_other, &joiners[i]);
    }
    pause_for(5 * MILLISECOND);
    set(&target.begin, 1);
    for (int i = 0; i < 4; i++) {
        join(tasks[i]);
        CHECK(joiners[i].result == kal_ok || joiners[i].result == kal_err_invalid);
        joined += joiners[i].result == kal_ok;
    }
    CHECK(joined == 1);
}

struct place {
    void *base;
    kal_uintptr size, current;
    bool holds;
};

/* The sanitizer keeps locals elsewhere; the frame is on the stack. */
static void find_stack(void *argument)
{
    struct place *place = argument;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    CHECK(kal_task_stack(&place->base, &place->size) == kal_ok);
    place->holds = here >= (uintptr_t)place->base && here < (uintptr_t)place->base + place->size;
    place->current = kal_task_current();
    CHECK(kal_task_stack(NULL, &place->size) == kal_err_invalid);
    CHECK(kal_task_stack(&place->base, NULL) == kal_err_invalid);
}

static void every_task_has_a_stack_of_the_declared_size(void)
{
    struct place first = {0}, one = {0}, two = {0};
    struct refusal why;

    CHECK(map_stack(STACK, &host_stack.lo, &host_stack.hi, &why));
    (void)enter((uintptr_t)find_stack, host_stack.hi, &first);
    join(started(find_stack, &one));
    join(started(find_stack, &two));
    CHECK(first.holds && one.holds && two.holds);
    CHECK(first.size == STACK && one.size == STACK && two.size == STACK);
    CHECK((uintptr_t)one.base % (uintptr_t)sysconf(_SC_PAGESIZE) == 0);
    CHECK(first.current == kal_task_current() && first.current != 0 && one.current != first.current);
    CHECK(first.base != one.base);
}

static void use_all(void *argument)
{
    volatile char *lowest = host_stack.lo;

    *lowest = 1; /* all of it can be written to */
    add_one(argument);
}

static void all_of_the_stack_is_the_tasks(void)
{
    kal_u32 ran = 0;

    join(started(use_all, &ran));
    CHECK(ran == 1);
}

static void no_memory_starts_nothing(void)
{
    struct kal_task task = {77};
    kal_u32 ran = 0;
    int before = mappings();

    header.stack = NO_STACK;
    for (int i = 0; i < 100; i++)
        CHECK(kal_task_start(add_one, &ran, &task) == kal_err_no_memory);
    header.stack = STACK;
    no_counts = true;
    for (int i = 0; i < 100; i++)
        CHECK(kal_task_start(add_one, &ran, &task) == kal_err_no_memory);
    no_counts = false;
    CHECK(ran == 0 && task.h == 77 && counts_open == 0 && mappings() < before + 50);
}

/* In a process of its own, of a user who may have no more threads than there are. */
static void too_many_are_no_memory(void)
{
    const struct rlimit limit = {1, 1};
    struct kal_task task = {77};
    kal_u32 ran = 0;
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0)
            CHECK(setresuid(65534, 65534, 65534) == 0);
        CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0);
        CHECK(kal_task_start(add_one, &ran, &task) == kal_err_no_memory && task.h == 77 && counts_open == 0);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* What a task had is there for the next one: memory, its word's place, what it is counted by. */
static void tasks_leave_nothing_behind(void)
{
    kal_uintptr slots = (UINT64_C(1) << 28) - 1, first;
    struct kal_task task = started(add_one, &(kal_u32){0});
    kal_u32 ran = 0;
    int before;

    first = task.h & slots;
    join(task);
    before = mappings();
    for (int i = 0; i < ONE_AFTER_ANOTHER; i++) {
        task = started(add_one, &ran);
        CHECK((task.h & slots) == first);
        join(task);
    }
    CHECK(ran == ONE_AFTER_ANOTHER && counts_open == 0 && handlers_open == 0);
    CHECK(mappings() < before + ONE_AFTER_ANOTHER / 10);
}

static void many_at_once(void)
{
    static struct kal_task tasks[AT_ONCE];
    struct crowd m = {0};

    for (int i = 0; i < AT_ONCE; i++)
        tasks[i] = started(wait_once, &m);
    CHECK(counts_open == AT_ONCE);
    wake_in_all(&m, UINT64_MAX, AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++)
        join(tasks[i]);
    CHECK(m.returned == AT_ONCE && counts_open == 0 && handlers_open == 0);
}

static void parallelism_is_what_the_system_grants(void)
{
    cpu_set_t before, one;
    size_t cpu = 0;

    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CHECK(kal_task_parallelism() == (kal_uintptr)CPU_COUNT(&before));
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(kal_task_parallelism() == 1);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK(kal_task_props() ==
          (KAL_TASK_PROP_PREEMPTIVE | KAL_TASK_PROP_PARALLEL | KAL_TASK_PROP_WAIT_TIMEOUT));
}

int main(void)
{
    no_memory_starts_nothing(); /* first: what ended leaves a stack for the next one */
    a_task_runs_and_is_joined();
    nobody_joins_itself();
    for (int i = 0; i < 100; i++)
        none_wait_for_each_other(2 + i % 2);
    one_joins();
    every_task_has_a_stack_of_the_declared_size();
    all_of_the_stack_is_the_tasks();
    too_many_are_no_memory();
    tasks_leave_nothing_behind();
    many_at_once();
    parallelism_is_what_the_system_grants();
    return 0;
}
