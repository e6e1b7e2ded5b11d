/* space COMMAND: starts a copy of itself, and ends with its status.
 *
 * exit STATUS, return, crash: how the copy ends. counts: both call what is counted. busy: 50 copies, made while tasks
 * are at everything that may not be held for ever in a copy. terminal: the copy ends while this program, which has
 * changed the terminal, waits for a byte. */
#include <openkal/abort.h>
#include <openkal/memory.h>
#include <openkal/prof.h>
#include <openkal/space.h>
#include <openkal/task.h>
#include <openkal/terminal.h>
#include <openkal/time.h>

#include "start.h"

#define SIZE 65536
#define COPIES 50
#define TASKS 3

static _Alignas(16) char stack[SIZE];
static volatile int* nowhere;
static kal_u64 cell;

static int run(void (*entry)(void*), void* arg)
{
    struct kal_process process;
    int error = kal_space_start(entry, arg, stack + SIZE, &process);

    return error != kal_ok ? -error : end_of(process);
}

static void leave(void* status)
{
    kal_exit((int)(kal_uintptr)status);
}

static void come_back(void* unused)
{
    (void)unused;
    say("in the copy\n");
}

__attribute__((noinline)) static void fault_in_copy(void)
{
    *nowhere = 1;
}

static void crash(void* unused)
{
    (void)unused;
    fault_in_copy();
    say("not here");
}

static void count(void* unused)
{
    (void)unused;
    kal_prof_phase("copy", 4);
    for (int i = 0; i < 7; i++)
        kal_time_wall();
    cell += 5;
}

static int start_bound(void)
{
    struct kal_process process;

    return start_shell("exit 4", 0, KAL_SPAWN_BOUND_LIFETIME, &process) == kal_ok && end_of(process) == 4;
}

static void return_at_once(void* unused)
{
    (void)unused;
}

/* Everything that takes a lock in the host. */
static int use_everything(void)
{
    struct kal_stream mine, theirs;
    struct kal_dir dir, root = directory(1);
    struct kal_task task;
    void* memory = kal_alloc(100, 16);
    kal_uintptr iter = 0, length;
    char name[256];
    int kind, good;

    good = memory && kal_process_channel(&mine, &theirs) == kal_ok && kal_fs_open_dir(root, "etc", 3, &dir) == kal_ok &&
           kal_fs_list_begin(dir, &iter) == kal_ok &&
           kal_fs_list_next(dir, &iter, name, sizeof name, &length, &kind) == kal_ok &&
           kal_prof_counter("cell", 4, &cell) == kal_ok && kal_task_start(return_at_once, 0, &task) == kal_ok &&
           kal_task_join(task) == kal_ok && start_bound();
    kal_free(memory, 100, 16);
    kal_process_channel_close(mine);
    kal_process_channel_close(theirs);
    kal_fs_close_dir(dir);
    kal_fs_close_dir(root);
    return good;
}

static int go_on = 1;

static void be_busy(void* unused)
{
    (void)unused;
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
        if (!use_everything())
            kal_exit(99);
    }
}

static void use_in_copy(void* unused)
{
    (void)unused;
    kal_exit(use_everything() && use_everything() ? 6 : 98);
}

static int copy_while_busy(void)
{
    struct kal_task tasks[TASKS];
    int good = 0;

    for (int i = 0; i < TASKS; i++)
        kal_task_start(be_busy, 0, &tasks[i]);
    for (int i = 0; i < COPIES; i++)
        good += run(use_in_copy, 0) == 6;
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < TASKS; i++)
        kal_task_join(tasks[i]);
    return good;
}

static int copy_with_terminal(void)
{
    char byte;

    if (kal_terminal_set_mode(kal_stdin(), 0) != kal_ok || run(leave, (void*)3) != 3)
        return 1;
    say("copied\n");
    return kal_stream_read(kal_stdin(), &byte, 1) == 1 ? 5 : 2;
}

int main(int argc, char** argv)
{
    const char* what = argc > 1 ? argv[1] : "";

    if (same(what, "exit"))
        return run(leave, (void*)(kal_uintptr)(argv[2][0] - '0'));
    if (same(what, "return"))
        return run(come_back, 0);
    if (same(what, "crash"))
        return run(crash, 0) == 1000 + 11 ? 40 : 41;
    if (same(what, "busy"))
        return copy_while_busy();
    if (same(what, "terminal"))
        return copy_with_terminal();
    kal_prof_counter("cell", 4, &cell);
    kal_prof_phase("original", 8);
    kal_time_wall();
    cell += 2;
    return run(count, 0);
}
