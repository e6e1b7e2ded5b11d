/* The report of a measured run: SPEC 12.4, in a file of its own.
 *
 * What can fail early is done before the image runs: the directory is opened, the name is made. At the end nothing is
 * left but to write a file in it and to rename that. */
#define _GNU_SOURCE /* strerrordesc_np, gettid */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "count.h"
#include "counters.h"
#include "host.h"
#include "json.h"
#include "measure.h"
#include "surface.gen.h"

#define WAIT_NS 1000000       /* between looks at another thread that writes */
#define LAST_LOOKS 1000       /* a second for the process to end as its report says */
#define RENAME_FROM ".okprof-%s.tmp"
#define RENAME_TO "okprof-%s.json"

static unsigned measured;
static int directory = -1;
static uint64_t started_wall, started;
static char id[64];
static pid_t writer;  /* the thread that writes the report; 0: none yet */
static bool written;

static const struct {
    const char *name;
    int position;
} functions[KAL_FUNCTION_COUNT] = {
#define FUNCTION(name, position) {#name, position},
    KAL_SURFACE(FUNCTION)
};
static const char *const interfaces[] = {KAL_INTERFACE_NAMES};

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

/* Open a directory, made with those above it where it is absent; -1 and errno where it cannot be had. */
static int open_directory(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    int fd = host_open(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);

    if (fd >= 0 || errno != ENOENT || length >= sizeof part)
        return fd;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] == '/' || path[i] == 0) {
            memcpy(part, path, i);
            part[i] = 0;
            (void)mkdir(part, 0777); /* one that is there already is as good; for any other reason the open fails */
        }
    }
    return host_open(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
}

/* A name that no other report has: when, which process, and a number drawn for it. */
static void make_id(void)
{
    uint32_t drawn;

    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn)
        drawn = (uint32_t)(started ^ started >> 32);
    host_format(id, sizeof id, "%llx-%d-%x", (unsigned long long)started_wall, (int)getpid(), drawn);
}

/* The time is now, and the report's name is made from it. */
static void begin_now(void)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    started = clock_kernel_ns();
    started_wall = (uint64_t)wall.tv_sec * UINT64_C(1000000000) + (uint64_t)wall.tv_nsec;
    make_id();
}

void measure_copied(void)
{
    if (measured == 0)
        return;
    writer = 0;
    written = false;
    begin_now();
    count_forget();
    counters_copied();
}

void measure_begin(unsigned what, const char *path)
{
    if (what == 0)
        return;
    measured = what;
    clock_begin((what & PLAN_MEASURE_CALLS) != 0 ? clock_best() : CLOCK_OF_KERNEL);
    begin_now();
    counters_begin();
    path = *path ? path : ".";
    directory = open_directory(path);
    if (directory < 0) {
        struct quiet quiet;
        int error = errno;

        quiet_begin(&quiet);
        host_warn("no report: cannot open directory %s: %s", path, strerrordesc_np(error));
        quiet_end(&quiet);
    }
    clock_settle();
}

static void write_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_string(json, text, strlen(text));
}

static void write_number(struct json *json, const char *key, uint64_t number)
{
    json_key(json, key);
    json_number(json, number);
}

static void write_identity(struct json *json)
{
    static const char *const names[] = {"count", "calls", "counters"}; /* by bit of enum plan_measure */

    write_number(json, "okprof", 1);
    write_text(json, "id", id);
    json_key(json, "image");
    json_begin(json, '{');
    write_text(json, "path", host_image.plan->path);
    json_key(json, "build_id");
    if (*host_image.plan->build_id)
        json_string(json, host_image.plan->build_id, strlen(host_image.plan->build_id));
    else
        json_null(json);
    write_text(json, "arch", HOST_ARCH);
    json_end(json, '}');
    write_number(json, "pid", (uint64_t)getpid());
    json_key(json, "argv");
    json_begin(json, '[');
    for (int i = 0; i < host_image.argc; i++)
        json_string(json, host_image.argv[i], strlen(host_image.argv[i]));
    json_end(json, ']');
    json_key(json, "what");
    json_begin(json, '[');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((measured >> i & 1) != 0)
            json_string(json, names[i], strlen(names[i]));
    }
    json_end(json, ']');
    write_number(json, "started_ns", started_wall);
}

static void write_end(struct json *json, uint64_t now, enum end_by by, int status, int signal_number)
{
    static const char *const names[] = {"return", "exit", "abort", "signal"}; /* by enum end_by */
    unsigned wrapped = measured & (PLAN_MEASURE_COUNT | PLAN_MEASURE_CALLS);

    write_number(json, "elapsed_ns", now);
    json_key(json, "ended");
    json_begin(json, '{');
    write_text(json, "by", names[by]);
    write_number(json, "status", (uint64_t)(status & 0xff));
    json_key(json, "signal");
    if (signal_number)
        json_number(json, (uint64_t)signal_number);
    else
        json_null(json);
    json_end(json, '}');
    json_key(json, "clock");
    json_begin(json, '{');
    write_text(json, "source", clock_name());
    write_number(json, "overhead_ns", wrapped ? count_overhead((wrapped & PLAN_MEASURE_CALLS) != 0) : 0);
    json_end(json, '}');
}

static void write_times(struct json *json, const struct call_stats *total)
{
    size_t buckets = CALL_BUCKETS;

    write_number(json, "total_ns", clock_ns(total->ticks));
    write_number(json, "max_ns", clock_ns(total->max));
    json_key(json, "log2_ns");
    json_begin(json, '[');
    while (buckets > 0 && total->log2[buckets - 1] == 0)
        buckets--;
    for (size_t i = 0; i < buckets; i++)
        json_number(json, total->log2[i]);
    json_end(json, ']');
}

static void write_calls(struct json *json)
{
    static const char *const times[] = {"total_ns", "max_ns", "log2_ns"};
    struct call_stats total;

    json_key(json, "calls");
    json_begin(json, '[');
    for (size_t i = 0; i < KAL_FUNCTION_COUNT; i++) {
        if (!count_total(i, &total))
            continue;
        json_begin(json, '{');
        write_text(json, "name", functions[i].name);
        if (functions[i].position < 0) {
            json_key(json, "interface");
            json_null(json);
        } else {
            write_text(json, "interface", interfaces[functions[i].position]);
        }
        write_number(json, "count", total.count);
        if ((measured & PLAN_MEASURE_CALLS) != 0) {
            write_times(json, &total);
        } else {
            for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
                json_key(json, times[k]);
                json_null(json);
            }
        }
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* Write the file under another name, then rename it: whoever reads the directory sees whole reports only.
 * Ensures:  0, or errno and no file is left. */
static int write_report(enum end_by by, int status, int signal_number)
{
    static struct json json; /* one report a process, and a handler's stack is small */
    uint64_t now = measure_elapsed();
    char from[sizeof id + sizeof RENAME_FROM], to[sizeof id + sizeof RENAME_TO];
    int fd, error;

    clock_settle();
    counters_read(); /* first: it gives back the descriptor that the file takes */
    host_format(from, sizeof from, RENAME_FROM, id);
    host_format(to, sizeof to, RENAME_TO, id);
    fd = host_open(directory, from, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0)
        return errno;
    json_start(&json, fd);
    json_begin(&json, '{');
    write_identity(&json);
    write_end(&json, now, by, status, signal_number);
    write_calls(&json);
    counters_write(&json, now);
    json_end(&json, '}');
    error = json_finish(&json) ? 0 : json.error;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && renameat(directory, from, directory, to) != 0)
        error = errno;
    if (error != 0)
        (void)unlinkat(directory, from, 0);
    return error;
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

void measure_end(enum end_by by, int status, int signal_number)
{
    pid_t self = gettid(), none = 0;
    int saved = errno, error;
    struct quiet quiet;

    if (directory < 0)
        return;
    quiet_begin(&quiet); /* before anything is said to be written: a signal in between would end it unwritten */
    if (!__atomic_compare_exchange_n(&writer, &none, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        quiet_end(&quiet);
        if (none != self)
            wait_for_writer();
        return;
    }
    error = write_report(by, status, signal_number);
    if (error != 0)
        host_warn("no report: cannot write okprof-%s.json: %s", id, strerrordesc_np(error));
    __atomic_store_n(&written, true, __ATOMIC_RELEASE);
    quiet_take_back(&quiet); /* the others wait: the process ends as its report says */
    errno = saved;
}
