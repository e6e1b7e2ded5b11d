/* From the beginning of a measured run to its one report. What can fail early is done before the image runs: its file
 * is there, and begun. At the end nothing is left but to write the rest, and to give the file its name. */
#define _GNU_SOURCE /* strerrordesc_np, gettid */
#include "measure.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "count.h"
#include "counters.h"
#include "heap.h"
#include "load.h"
#include "perfmap.h"
#include "phases.h"
#include "report.h"
#include "report_file.h"

#define WAIT_NS 1000000 /* between looks at another thread that writes */
#define LAST_LOOKS 1000 /* a second for the process to end as its report says */
#define OWN_STACK ((size_t)64 << 10) /* what is written, and a line on standard error, take a quarter of it */

static unsigned measured;
static uint64_t started;
static bool begun;
static pid_t writer; /* the thread that writes the report; 0: none yet */
static int told;     /* the signal that it says has ended the process, or 0 */
static bool written;

/* What a copy begins with and every process ends with runs here: of the stack that the image gave there may be next to
 * nothing left, which is enough for a call that measures nothing. */
static char own_stack[OWN_STACK] __attribute__((aligned(16)));

unsigned measure_what(void)
{
    return measured;
}

uint64_t measure_elapsed(void)
{
    return clock_kernel_ns() - started;
}

void *measure_thread_new(void)
{
    return measured ? count_thread_new() : &measured;
}

void measure_thread_begin(void *counts)
{
    if (measured)
        count_thread_begin(counts);
}

void measure_thread_end(void *counts)
{
    if (measured)
        count_thread_end(counts);
}

/* What our own writing must not do to the process: SIGPIPE and SIGXFSZ end it, and any other signal may interrupt. A
 * fault is let through: blocked, it would end the process without a word. */
struct quiet {
    sigset_t before, pending;
};

static void quiet_begin(struct quiet *quiet)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    sigset_t all;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &quiet->before);
    sigpending(&quiet->pending);
}

/* Take back the signals that our own writing raised. */
static void quiet_take_back(const struct quiet *quiet)
{
    static const int ours[] = {SIGPIPE, SIGXFSZ};
    const struct timespec none = {0, 0};

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        sigset_t one;

        sigemptyset(&one);
        sigaddset(&one, ours[i]);
        if (!sigismember(&quiet->pending, ours[i]))
            (void)sigtimedwait(&one, NULL, &none);
    }
}

/* The same, and let the others come. */
static void quiet_end(const struct quiet *quiet)
{
    quiet_take_back(quiet);
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

static const char *path(void)
{
    return *host_image.plan->report_dir ? host_image.plan->report_dir : ".";
}

/* Begin the report's file. Ensures: 0, or the errno value. */
static int begin_report(uint64_t wall)
{
    int fd, error = report_file_begin(wall, &fd);

    if (error != 0)
        return error;
    error = report_write_head(fd, report_file_id(), wall);
    if (error == 0)
        report_file_keep();
    else
        report_file_fail();
    return error;
}

static void say_why(int error)
{
    host_warn("no report: cannot write in directory %s: %s", path(), strerrordesc_np(error));
}

/* The time is now, and all that is measured begins; the report, where there is a place for it. */
static int begin_now(void *none)
{
    struct timespec wall;
    struct quiet quiet;
    int error;

    (void)none;
    clock_gettime(CLOCK_REALTIME, &wall);
    started = clock_kernel_ns();
    if ((measured & PLAN_MEASURE_HEAP) != 0)
        heap_begin();
    quiet_begin(&quiet);
    if (report_file_directory() >= 0) {
        error = begin_report((uint64_t)wall.tv_sec * UINT64_C(1000000000) + (uint64_t)wall.tv_nsec);
        begun = error == 0;
        if (error != 0)
            say_why(error);
    }
    if ((measured & PLAN_MEASURE_PERFMAP) != 0)
        perfmap_write();
    quiet_end(&quiet);
    return 0;
}

static void find_place(void)
{
    struct quiet quiet;
    int error;

    quiet_begin(&quiet);
    error = report_file_place(path());
    if (error != 0)
        say_why(error);
    quiet_end(&quiet);
}

void measure_begin(unsigned what)
{
    if (what == 0)
        return;
    measured = what;
    clock_begin((what & (PLAN_MEASURE_CALLS | PLAN_MEASURE_HEAP)) != 0 ? clock_best() : CLOCK_OF_KERNEL);
    counters_begin();
    find_place();
    (void)begin_now(NULL);
    clock_settle();
}

void measure_copied(void)
{
    if (measured == 0)
        return;
    writer = 0;
    told = 0;
    written = begun = false;
    report_file_leave();
    count_forget();
    phases_forget();
    counters_copied();
    (void)enter((uintptr_t)begin_now, own_stack + sizeof own_stack, NULL);
}

/* Wait until the other thread has written, then for the end of the process, which is near. */
static void wait_for_writer(void)
{
    const struct timespec wait = {0, WAIT_NS};

    for (int looks = 0; looks < LAST_LOOKS;) {
        nanosleep(&wait, NULL);
        looks += __atomic_load_n(&written, __ATOMIC_ACQUIRE);
    }
}

static int write_report(void *end)
{
    int error = report_write_rest(end);

    if (error == 0)
        error = report_file_end();
    if (error != 0) {
        report_file_fail();
        host_warn("no report: cannot write okprof-%s.json: %s", report_file_id(), strerrordesc_np(error));
    }
    return error;
}

void measure_end(enum end_by by, int status, int signal_number)
{
    struct end end = {by, status, signal_number};
    pid_t self = gettid(), none = 0;
    int saved = errno;
    struct quiet quiet;

    if (!begun)
        return;
    quiet_begin(&quiet); /* before anything is said to be written: a signal in between would end it unwritten */
    if (!__atomic_compare_exchange_n(&writer, &none, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        quiet_end(&quiet);
        if (none != self)
            wait_for_writer();
        return;
    }
    __atomic_store_n(&told, signal_number, __ATOMIC_RELAXED);
    (void)enter((uintptr_t)write_report, own_stack + sizeof own_stack, &end);
    __atomic_store_n(&written, true, __ATOMIC_RELEASE);
    quiet_take_back(&quiet); /* the others wait: the process ends as its report says */
    errno = saved;
}

bool measure_tells_other(int signal_number)
{
    return __atomic_load_n(&writer, __ATOMIC_ACQUIRE) == gettid() &&
           __atomic_load_n(&told, __ATOMIC_RELAXED) != signal_number;
}
