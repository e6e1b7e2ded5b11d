/* A program of the host's openkal.process: it starts programs of the system, of which every Linux has these. */
#ifndef TEST_KAL_PROCESS_H
#define TEST_KAL_PROCESS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openkal/fs.h>
#include <openkal/process.h>
#include <openkal/timeout.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "fault.h"
#include "host.h"
#include "kal/handle.h"
#include "kal/terminal.h"
#include "measure.h"

#define MANY 32 /* arguments of a started program, at most */

static struct plan test_plan;
struct image host_image = {.plan = &test_plan};

static int restored, reported;

void terminal_restore(void)
{
    restored++;
}

void measure_end(enum end_by by, int status, int signal_number)
{
    (void)by, (void)status, (void)signal_number;
    reported++;
}

/* Of what a task needs of the rest of the host: nothing is measured, no fault is reported. */
void fault_thread_begin(void)
{
}

void fault_thread_end(void)
{
}

void *measure_thread_new(void)
{
    return &test_plan;
}

void measure_thread_begin(void *counts)
{
    (void)counts;
}

void measure_thread_end(void *counts)
{
    (void)counts;
}

static inline struct kal_dir preopen(kal_uintptr index)
{
    struct kal_dir dir;
    kal_uintptr length;

    CHECK(kal_fs_preopen(index, &dir, NULL, 0, &length) == kal_ok);
    return dir;
}

static inline struct kal_dir root(void)
{
    static struct kal_dir dir;

    if (dir.h == 0)
        dir = preopen(1);
    return dir;
}

/* A start as the tests begin with, before they change something. */
struct request {
    struct kal_spawn how;
    const char *path, *argv[MANY];
    kal_uintptr lengths[MANY], argc;
    struct kal_spawn_streams streams;
};

/* Of a program and its arguments, the last of them null. */
static inline struct request request_for(const char *path, const char *const *words)
{
    struct request made = {.how = {.base = root()}, .path = path};

    for (; words[made.argc]; made.argc++) {
        made.argv[made.argc] = words[made.argc];
        made.lengths[made.argc] = strlen(words[made.argc]);
    }
    return made;
}

#define REQUEST(path, ...) request_for((path), (const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) REQUEST("bin/sh", "sh", "-c", (script))

static inline int start(struct request *request, struct kal_process *out)
{
    return kal_process_spawn(&request->how, request->path, strlen(request->path), request->argv, request->lengths,
                             request->argc, NULL, NULL, 0, &request->streams, out);
}

static inline struct kal_process started(struct request request)
{
    struct kal_process process;

    CHECK(start(&request, &process) == kal_ok && process.h != 0);
    return process;
}

/* The status of a program that ends, and is let go of: with 1000 more where a signal ended it. */
static inline int end_of(struct kal_process process)
{
    int status = -1, terminated = -1;

    CHECK(kal_process_wait(process, &status, &terminated) == kal_ok && (terminated == 0 || terminated == 1));
    kal_process_close(process);
    return status + 1000 * terminated;
}

/* Read a stream to the end of its input, as text. */
static inline const char *rest_of(struct kal_stream stream)
{
    static char text[1 << 16];
    kal_uintptr size = 0;
    kal_intptr got;

    while ((got = kal_stream_read(stream, text + size, sizeof text - 1 - size)) > 0)
        size += (kal_uintptr)got;
    CHECK(got == 0);
    text[size] = 0;
    return text;
}

/* What a program writes on standard output; it ends with status 0. */
static inline const char *output_of(struct request request)
{
    struct kal_stream mine, theirs;
    struct kal_process process;
    const char *text;

    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    request.streams.out = theirs;
    CHECK(start(&request, &process) == kal_ok);
    kal_process_channel_close(theirs);
    text = rest_of(mine);
    kal_process_channel_close(mine);
    CHECK(end_of(process) == 0);
    return text;
}

/* Whether this program has children, ended or not. */
static inline bool has_children(void)
{
    return waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Wait until what becomes true; it has to within ten seconds. */
#define CHECK_SOON(fact)                                                                                               \
    do {                                                                                                               \
        for (int looks = 0; !(fact); looks++) {                                                                        \
            CHECK(looks < 10000);                                                                                      \
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);                                                   \
        }                                                                                                              \
    } while (0)

static inline bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* Run a part of a test in a process of its own: its wait status. */
static inline int in_process(void (*part)(void))
{
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        part();
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

#endif
