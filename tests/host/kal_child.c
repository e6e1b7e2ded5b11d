/* openkal.process: channels, waiting, ends, lifetimes and jobs. */
#include <openkal/stream.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

#include "interrupt.h"
#include "kal_process.h"

#define MILLISECOND 1000000u

static void test_channel(void)
{
    struct kal_stream mine, theirs, gone;
    char text[8];

    CHECK(kal_process_channel(NULL, &theirs) == kal_err_invalid);
    CHECK(kal_process_channel(&mine, NULL) == kal_err_invalid);
    CHECK(kal_process_channel(&mine, &theirs) == kal_ok && mine.h != 0 && theirs.h != 0 && mine.h != theirs.h);
    CHECK(kal_stream_write(mine, "there", 5) == 5 && kal_stream_write(theirs, "back", 4) == 4);
    CHECK(kal_stream_read(theirs, text, 8) == 5 && memcmp(text, "there", 5) == 0);
    CHECK(kal_stream_read(mine, text, 8) == 4 && memcmp(text, "back", 4) == 0);
    gone = theirs;
    kal_process_channel_close(theirs);
    kal_process_channel_close(gone);
    CHECK(kal_stream_read(gone, text, 8) == -kal_err_invalid);
    CHECK(kal_stream_read(mine, text, 8) == 0 && kal_stream_read(mine, text, 8) == 0);
    CHECK(kal_stream_write(mine, "x", 1) == -kal_err_closed); /* and no signal */
    kal_process_channel_close(mine);
    kal_process_channel_close(kal_stdout());
    CHECK(kal_stream_write(kal_stdout(), "", 0) == 0);
}

/* Of an end that is closed before it has read everything the other one reads what was sent, then the end. */
static void test_unread(void)
{
    const kal_u64 bounds[] = {0, 1000 * MILLISECOND};

    for (int way = 0; way < 3; way++) {
        struct kal_stream mine, theirs;
        char text[8];

        CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
        CHECK(kal_stream_write(mine, "unread", 6) == 6 && kal_stream_write(theirs, "last", 4) == 4);
        kal_process_channel_close(theirs);
        for (kal_intptr expected = 4; expected >= 0; expected -= 4) {
            kal_intptr got = way < 2 ? kal_timeout_read(mine, text, 8, bounds[way]) : kal_stream_read(mine, text, 8);

            CHECK(got == expected);
        }
        kal_process_channel_close(mine);
        CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
        CHECK(kal_stream_write(mine, "unread", 6) == 6);
        kal_process_channel_close(theirs);
        CHECK(kal_stream_write(mine, "x", 1) == -kal_err_closed);
        kal_process_channel_close(mine);
    }
}

/* The same of a standard stream that is such a socket, as where this program was started with a channel. */
static void read_from_a_socket(void)
{
    char text[8];
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO && close(ends[0]) == 0);
    CHECK(write(STDIN_FILENO, "unread", 6) == 6 && write(ends[1], "last", 4) == 4 && close(ends[1]) == 0);
    CHECK(kal_stream_read(kal_stdin(), text, 8) == 4 && kal_stream_read(kal_stdin(), text, 8) == 0);
}

static void test_piped(void)
{
    struct kal_stream in[2], out[2];
    struct request request = REQUEST("bin/cat", "cat");
    struct kal_process process;

    CHECK(kal_process_channel(&in[0], &in[1]) == kal_ok && kal_process_channel(&out[0], &out[1]) == kal_ok);
    request.streams.in = in[1];
    request.streams.out = out[1];
    process = started(request);
    kal_process_channel_close(in[1]);
    kal_process_channel_close(out[1]);
    CHECK(kal_stream_write(in[0], "through", 7) == 7);
    kal_process_channel_close(in[0]);
    CHECK(strcmp(rest_of(out[0]), "through") == 0);
    kal_process_channel_close(out[0]);
    CHECK(end_of(process) == 0);
}

static void test_wait(void)
{
    struct kal_process process = started(SHELL("exit 300"));
    int status = -1, terminated = -1;

    CHECK(kal_process_wait(process, &status, &terminated) == kal_ok && status == 44 && terminated == 0);
    CHECK(kal_process_wait(process, &status, NULL) == kal_ok && kal_process_wait(process, NULL, &terminated) == kal_ok);
    CHECK(kal_timeout_wait_process(process, 1, NULL, NULL) == kal_ok);
    CHECK(kal_process_terminate(process) == kal_ok && end_of(process) == 44);
    status = terminated = 55;
    CHECK(kal_process_wait(process, &status, &terminated) == kal_err_invalid && status == 55 && terminated == 55);
    CHECK(kal_process_terminate(process) == kal_err_invalid);
    kal_process_close(process);
    CHECK(end_of(started(SHELL("kill -s USR1 $$"))) == 1000 + SIGUSR1);
    process = started(REQUEST("bin/sleep", "sleep", "1000"));
    CHECK(kal_timeout_wait_process(process, MILLISECOND, &status, &terminated) == kal_err_again);
    CHECK(status == 55 && terminated == 55);
    CHECK(kal_process_terminate(process) == kal_ok && kal_process_terminate(process) == kal_ok);
    CHECK(end_of(process) == 1000 + SIGKILL);
}

static void *wait_too(void *process)
{
    int status = -1, terminated = -1;

    CHECK(kal_process_wait(*(struct kal_process *)process, &status, &terminated) == kal_ok);
    CHECK(status == 3 && terminated == 0);
    return NULL;
}

/* By several tasks at once, while signals interrupt them; one lets go of it meanwhile. */
static void test_many_wait(void)
{
    struct request request = SHELL("read x; exit 3");
    struct kal_stream mine, theirs;
    struct kal_process process;
    pthread_t tasks[8];

    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    request.streams.in = theirs;
    process = started(request);
    kal_process_channel_close(theirs);
    interrupt(true);
    for (size_t i = 0; i < 8; i++)
        CHECK(pthread_create(&tasks[i], NULL, wait_too, &process) == 0);
    CHECK(kal_timeout_wait_process(process, 20 * MILLISECOND, NULL, NULL) == kal_err_again);
    CHECK(kal_stream_write(mine, "\n", 1) == 1);
    for (size_t i = 0; i < 8; i++)
        CHECK(pthread_join(tasks[i], NULL) == 0);
    interrupt(false);
    kal_process_channel_close(mine);
    CHECK(end_of(process) == 3 && !has_children());
}

/* Let go of before its end, it runs on, and is no zombie afterwards. */
static void test_let_go(void)
{
    struct request request = SHELL("echo $$; read x; echo on");
    struct kal_stream mine, theirs;
    char text[32] = "";
    pid_t pid;

    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    request.streams.in = request.streams.out = theirs;
    kal_process_close(started(request));
    kal_process_channel_close(theirs);
    CHECK(kal_stream_read(mine, text, sizeof text - 1) > 0);
    pid = atoi(text);
    CHECK(pid > 0 && kill(pid, 0) == 0);
    CHECK(kal_stream_write(mine, "\n", 1) == 1 && kal_stream_read(mine, text, sizeof text) == 3);
    kal_process_channel_close(mine);
    CHECK_SOON(is_gone(pid));
    kal_process_close(started(SHELL("exit 0")));
    CHECK_SOON(!has_children());
}

static void start_where_ends_are_ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
    if (end_of(started(SHELL("exit 9"))) != 9)
        _exit(1);
}

/* What a program that was started in `part` and ends with it, or does not, holds open. */
static int held[2];
static pid_t parent;

static void start_in(void (*part)(void))
{
    CHECK(pipe(held) == 0);
    parent = fork();
    CHECK(parent >= 0);
    if (parent == 0) {
        close(held[0]);
        part();
        for (;;)
            pause();
    }
    close(held[1]);
}

static int said(void)
{
    char text[16] = "";

    CHECK(read(held[0], text, sizeof text - 1) > 0);
    return atoi(text);
}

static bool all_ended(void)
{
    struct pollfd end = {.fd = held[0], .events = POLLIN};
    char byte;

    return poll(&end, 1, 10000) == 1 && read(held[0], &byte, 1) == 0 && close(held[0]) == 0;
}

/* This program's own standard output, and what it starts inherits, is held open. */
static void hold(void)
{
    CHECK(dup2(held[1], STDOUT_FILENO) == STDOUT_FILENO && close(held[1]) == 0);
}

static struct kal_process sleeper;
static kal_uintptr flags;

static void *start_sleeper(void *unused)
{
    struct request request = SHELL("echo $$; exec sleep 1000");

    request.how.flags = flags;
    sleeper = started(request);
    return unused;
}

/* The task that starts it ends before. */
static void start_in_a_task(void)
{
    pthread_t task;

    hold();
    CHECK(pthread_create(&task, NULL, start_sleeper, NULL) == 0 && pthread_join(task, NULL) == 0);
    CHECK(kal_timeout_wait_process(sleeper, 50 * MILLISECOND, NULL, NULL) == kal_err_again);
    CHECK(write(STDOUT_FILENO, "1\n", 2) == 2);
}

static void test_bound(void)
{
    for (flags = 0; flags < 2; flags++) {
        pid_t child;
        int alive;

        start_in(start_in_a_task);
        child = said();
        alive = said();
        CHECK(alive == 1 && kill(parent, SIGKILL) == 0 && waitpid(parent, NULL, 0) == parent);
        if (flags == 0)
            CHECK(kill(child, 0) == 0 && kill(child, SIGKILL) == 0);
        CHECK(all_ended());
    }
    flags = 0;
}

/* Many at once are bound, each to this process. */
static void *start_bound(void *unused)
{
    struct request request = SHELL("exit 5");

    request.how.flags = KAL_SPAWN_BOUND_LIFETIME;
    for (int i = 0; i < 20; i++)
        CHECK(end_of(started(request)) == 5);
    return unused;
}

static void test_many_bound(void)
{
    pthread_t tasks[4];

    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&tasks[i], NULL, start_bound, NULL) == 0);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(tasks[i], NULL) == 0);
}

/* One that has a child of its own, of which it tells. */
static struct kal_process family(struct kal_job *job)
{
    struct request request = SHELL("sleep 1000 2>&- & echo up >&2; exec 2>&-; wait");
    struct kal_stream mine, theirs;
    struct kal_process process;

    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    request.streams.err = theirs;
    request.how.job = job;
    process = started(request);
    kal_process_channel_close(theirs);
    CHECK(strcmp(rest_of(mine), "up\n") == 0);
    kal_process_channel_close(mine);
    return process;
}

static void end_a_job(void)
{
    struct kal_job job, second = {66};

    hold();
    CHECK(kal_process_job_enter(&job) == kal_ok && job.h != 0);
    CHECK(kal_process_job_enter(&second) == kal_err_exists && second.h == 66);
    CHECK(end_of(started(SHELL("exit 6"))) == 6); /* it leads the group, has ended, and was let go of */
    (void)family(&job);
    kal_process_close(family(NULL));
    (void)kal_process_job_terminate(job);
    _exit(1);
}

static void end_an_empty_job(void)
{
    struct kal_job job;

    CHECK(kal_process_job_enter(&job) == kal_ok);
    (void)kal_process_job_terminate(job);
    _exit(1);
}

static void test_job(void)
{
    int status;

    CHECK(kal_process_job_enter(NULL) == kal_err_invalid);
    CHECK(kal_process_job_terminate((struct kal_job){7}) == kal_err_invalid);
    start_in(end_a_job);
    CHECK(all_ended());
    CHECK(waitpid(parent, &status, 0) == parent && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = in_process(end_an_empty_job);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A job that is let go of leaves its programs alone, and this program free to make another. */
static void test_job_let_go(void)
{
    struct kal_job first, second;
    struct kal_process process;

    CHECK(kal_process_job_enter(&first) == kal_ok);
    process = started(REQUEST("bin/sleep", "sleep", "1000"));
    kal_process_job_close(first);
    kal_process_job_close(first);
    CHECK(kal_process_job_terminate(first) == kal_err_invalid);
    CHECK(kal_timeout_wait_process(process, MILLISECOND, NULL, NULL) == kal_err_again);
    CHECK(kal_process_job_enter(&second) == kal_ok && second.h != first.h);
    kal_process_job_close(second);
    CHECK(kal_process_terminate(process) == kal_ok && end_of(process) == 1000 + SIGKILL);
}

int main(void)
{
    test_channel();
    test_unread();
    CHECK(in_process(read_from_a_socket) == 0);
    test_piped();
    test_wait();
    test_many_wait();
    test_let_go();
    CHECK(in_process(start_where_ends_are_ignored) == 0);
    test_bound();
    test_many_bound();
    test_job();
    test_job_let_go();
    return 0;
}
