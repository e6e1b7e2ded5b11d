/* openkal.space: what is in a copy of this process, and what is not. A copy that finds something wrong says so and ends
 * with status 1. The sanitizers' own locks are not free in copies: none is made here while other tasks allocate. */
#include <openkal/space.h>
#include <openkal/stream.h>
#include <openkal/task.h>
#include <pthread.h>
#include <stdint.h>

#include "kal_process.h"

#define STACK_SIZE 262144 /* the sanitizers' frames are large */

static _Alignas(4096) char stack[STACK_SIZE];
static int copied, watched_anew; /* what measuring and the reports of faults were told, in a copy */

void measure_copied(void)
{
    copied++;
}

void fault_copied(void)
{
    watched_anew++;
}

static struct kal_process copy_of(void (*entry)(void *), void *arg)
{
    struct kal_process process;

    CHECK(kal_space_start(entry, arg, stack + STACK_SIZE, &process) == kal_ok && process.h != 0);
    return process;
}

static int run(void (*entry)(void *), void *arg)
{
    return end_of(copy_of(entry, arg));
}

static int written = 1;

static void write_memory(void *arg)
{
    char on_stack = 0;

    CHECK(arg == &written && written == 2 && copied == 1 && watched_anew == 1);
    CHECK(&on_stack > stack && &on_stack < stack + STACK_SIZE);
    CHECK((char *)host_stack.hi == stack + STACK_SIZE && (char *)host_stack.lo <= stack);
    written = 3;
}

static void leave_with(void *status)
{
    _exit((int)(intptr_t)status);
}

static void die(void *unused)
{
    (void)unused;
    raise(SIGKILL);
}

static void test_copy(void)
{
    written = 2;
    CHECK(run(write_memory, &written) == 0 && written == 2 && copied == 0);
    CHECK(run(leave_with, (void *)33) == 33);
    CHECK(run(die, NULL) == 1000 + SIGKILL);
}

static void test_refused(void)
{
    struct kal_process out = {77};

    CHECK(kal_space_start(NULL, NULL, stack + STACK_SIZE, &out) == kal_err_invalid);
    CHECK(kal_space_start(die, NULL, NULL, &out) == kal_err_invalid);
    CHECK(kal_space_start(die, NULL, stack + STACK_SIZE, NULL) == kal_err_invalid);
    for (int i = 1; i < 16; i++)
        CHECK(kal_space_start(die, NULL, stack + STACK_SIZE - i, &out) == kal_err_invalid);
    CHECK(out.h == 77 && !has_children());
}

static struct kal_stream mine, theirs;
static struct kal_process sleeper;
static struct kal_task reader;

static int open_descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    int count = -1; /* that of the list */

    CHECK(list != NULL);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

static void use_handles(void *unused)
{
    int before = open_descriptors();

    (void)unused;
    CHECK(kal_stream_write(theirs, "copy", 4) == 4);
    CHECK(kal_task_join(reader) == kal_err_invalid); /* it is not in the copy, nor is its read */
    kal_process_channel_close(mine);
    kal_process_channel_close(theirs);
    CHECK(open_descriptors() == before - 2);
    CHECK(kal_process_wait(sleeper, NULL, NULL) == kal_err_not_supported);
    CHECK(kal_timeout_wait_process(sleeper, 1, NULL, NULL) == kal_err_not_supported);
    CHECK(kal_process_terminate(sleeper) == kal_ok);
    kal_process_close(sleeper);
    CHECK(end_of(started(SHELL("exit 4"))) == 4);
}

static void read_what_comes(void *unused)
{
    char text[8];

    (void)unused;
    CHECK(kal_stream_read(mine, text, sizeof text) == 4 && memcmp(text, "copy", 4) == 0);
}

/* While another task reads from a stream, the copy writes to it and closes it for itself. */
static void test_handles(void)
{
    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    sleeper = started(REQUEST("bin/sleep", "sleep", "1000"));
    CHECK(kal_task_start(read_what_comes, NULL, &reader) == kal_ok);
    usleep(20000); /* so that it reads already, most times */
    CHECK(run(use_handles, NULL) == 0);
    CHECK(kal_task_join(reader) == kal_ok && kal_stream_write(mine, "x", 1) == 1);
    kal_process_channel_close(mine);
    kal_process_channel_close(theirs);
    CHECK(end_of(sleeper) == 1000 + SIGKILL);
}

static struct kal_job job;

static void start_in_job(void *unused)
{
    (void)unused;
    CHECK(kal_stream_write(theirs, "1", 1) == 1);
    (void)started(REQUEST("bin/sleep", "sleep", "1000"));
    CHECK(kal_stream_write(theirs, "2", 1) == 1);
    pause();
}

static void end_job(void *unused)
{
    (void)unused;
    (void)kal_process_job_terminate(job);
}

/* A copy, and what it starts, are in the job that this program is in, be it the first that was started there or not. */
static void make_a_job(bool copy_ends_it, bool copy_is_first)
{
    char text[2] = "";

    CHECK(kal_process_channel(&mine, &theirs) == kal_ok && kal_process_job_enter(&job) == kal_ok);
    if (!copy_is_first)
        (void)started(REQUEST("bin/sleep", "sleep", "1000"));
    (void)copy_of(start_in_job, NULL);
    for (int i = 0; i < 2; i++)
        CHECK(kal_stream_read(mine, text, 1) == 1 && text[0] == '1' + i);
    if (copy_ends_it)
        (void)copy_of(end_job, NULL);
    else
        (void)kal_process_job_terminate(job);
    pause();
}

static int held[2];
static int how_it_ends;

static void make_this_job(void)
{
    CHECK(dup2(held[1], STDOUT_FILENO) >= 0 && close(held[0]) == 0 && close(held[1]) == 0);
    make_a_job((how_it_ends & 1) != 0, (how_it_ends & 2) != 0);
}

static void test_job(void)
{
    for (how_it_ends = 0; how_it_ends < 4; how_it_ends++) {
        char byte;
        int status;

        CHECK(pipe(held) == 0);
        status = in_process(make_this_job);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        close(held[1]);
        CHECK(read(held[0], &byte, 1) == 0 && close(held[0]) == 0); /* all that held it have ended */
    }
}

/* A task's stack, and a copy that it makes. */
static void copy_from_a_task(void *unused)
{
    (void)unused;
    CHECK(run(leave_with, (void *)12) == 12);
}

static void test_task(void)
{
    struct kal_task task;

    CHECK(kal_task_start(copy_from_a_task, NULL, &task) == kal_ok && kal_task_join(task) == kal_ok);
}

int main(void)
{
    static struct plan_header header = {.stack = (uint64_t)1 << 20};

    test_plan.header = &header;
    test_refused();
    test_copy();
    test_handles();
    test_job();
    test_task();
    return 0;
}
