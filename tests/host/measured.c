/* What a measured image does, without an image:
 *
 *     measured WHAT DIRECTORY PATH BUILD_ID SCENARIO [ARGUMENT...]
 *
 * WHAT is a number of enum plan_measure bits; PATH and the ARGUMENTs are the image's argv. tests/host/test_measure.py
 * says what the report of each scenario must hold. */
#define _GNU_SOURCE /* renameat2 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "fault.h"
#include "measured.h"

#define THREADS 8
#define THREAD_CALLS 20000
#define MANY 10000

static bool writer_faults, faults_are_sent;

/* In place of the C library's: the last step of the writer. */
int renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
    if (faults_are_sent) {
        CHECK(kill(getpid(), SIGTRAP) == 0);
        CHECK(kill(getpid(), SIGILL) == 0);
    }
    if (writer_faults)
        raise(SIGSEGV);
    return (int)syscall(SYS_renameat2, from, a, to, b, flags);
}

static void do_nothing(void)
{
}

static void do_calls(void)
{
    (void)CALL(kal_version);
    for (int i = 0; i < 3; i++)
        (void)CALL(kal_stdout);
    for (int i = 0; i < 5; i++)
        (void)CALL(kal_stream_write, kal_stdout(), "out", 3); /* kal_stdout() itself is the test's own call */
    for (int i = 0; i < 2; i++)
        CALL(kal_time_sleep, 2000000);
    CALL(kal_exit, 42 + 256);
}

static void do_abort(void)
{
    CALL(kal_abort, "the end", 7);
}

static void do_abort_with_line(void)
{
    CALL(kal_abort, "the end\n", 8);
}

static void do_abort_in_silence(void)
{
    signal(SIGABRT, SIG_IGN);
    CALL(kal_abort, NULL, 5);
}

static void on_fault(int number)
{
    signal(number, SIG_DFL);
    measure_end(END_SIGNAL, 128 + number, number);
    raise(number);
}

static void do_fault(void)
{
    signal(SIGSEGV, on_fault);
    (void)CALL(kal_version);
    raise(SIGSEGV);
}

/* The writer itself faults, and the handler above it asks for the report again. */
static void do_fault_in_writer(void)
{
    signal(SIGSEGV, on_fault);
    writer_faults = true;
}

static void do_counters(void)
{
    static const kal_u64 five = 5, seven = 7, largest = UINT64_MAX;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *gone = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(gone != MAP_FAILED);
    CHECK(CALL(kal_prof_counter, "second", 6, &seven) == kal_ok);
    CHECK(CALL(kal_prof_counter, "a \"quoted\\\" \xe2\x82\xac\xf0\x9f\x98\x80", 19, &five) == kal_ok);
    CHECK(CALL(kal_prof_counter, "second", 6, &five) == kal_ok);
    CHECK(CALL(kal_prof_counter, "second", 6, &seven) == kal_ok); /* again the same: nothing new */
    CHECK(CALL(kal_prof_counter, "largest", 7, &largest) == kal_ok);
    CHECK(CALL(kal_prof_counter, "wraps", 5, &largest) == kal_ok);
    CHECK(CALL(kal_prof_counter, "wraps", 5, &five) == kal_ok);
    CHECK(CALL(kal_prof_counter, "gone", 4, (const kal_u64 *)(void *)(gone + page)) == kal_ok);
    CHECK(CALL(kal_prof_counter, "half gone", 9, (const kal_u64 *)(void *)(gone + page)) == kal_ok);
    CHECK(CALL(kal_prof_counter, "half gone", 9, &seven) == kal_ok);
    CHECK(CALL(kal_prof_counter, "cut", 3, (const kal_u64 *)(uintptr_t)(gone + page - 4)) == kal_ok);
    CHECK(CALL(kal_prof_counter, "wild", 4, (const kal_u64 *)(uintptr_t)8) == kal_ok);
    CHECK(munmap(gone + page, page) == 0);
}

static kal_u64 many[MANY];

static void *add_many(void *argument)
{
    for (int i = 0; i < MANY; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "counter %d", i);

        CHECK(kal_prof_counter(name, (kal_uintptr)length, &many[i]) == kal_ok);
        CHECK(kal_prof_counter("all", 3, &many[i]) == kal_ok);
    }
    return argument;
}

static void do_many(void)
{
    pthread_t other;

    for (int i = 0; i < MANY; i++)
        many[i] = (kal_u64)i;
    CHECK(pthread_create(&other, NULL, add_many, NULL) == 0);
    (void)add_many(NULL);
    CHECK(pthread_join(other, NULL) == 0);
}

static void on_timer(int number)
{
    measure_end(END_SIGNAL, 128 + number, number);
    _exit(128 + number);
}

/* A signal comes while the report is written, or just before: there is much to write. */
static void do_signal_while_it_ends(void)
{
    const struct itimerval soon = {.it_value = {0, 1000}};

    (void)add_many(NULL);
    signal(SIGALRM, on_timer);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    CALL(kal_exit, 7);
}

/* While the report is written signals are sent that are else those of a fault. */
static void do_fault_sent_while_it_ends(void)
{
    fault_begin(true);
    faults_are_sent = true;
    CALL(kal_exit, 7);
}

static void *call_often(void *argument)
{
    void *counts = measure_thread_new();

    CHECK(counts != NULL);
    measure_thread_begin(counts);
    for (int i = 0; i < THREAD_CALLS; i++)
        (void)CALL(kal_memory_granularity);
    measure_thread_end(counts);
    return argument;
}

static void *leave(void *argument)
{
    CALL(kal_exit, (int)(uintptr_t)argument);
    return NULL;
}

static void in_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)(i + 10)) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void do_threads(void)
{
    in_threads(call_often);
    in_threads(call_often);
}

static void do_race(void)
{
    in_threads(leave);
}

static void do_use_up_descriptors(void)
{
    static const kal_u64 five = 5;
    const struct rlimit few = {64, 64};

    CHECK(kal_prof_counter("five", 4, &five) == kal_ok);
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (dup(STDERR_FILENO) >= 0)
        ;
}

static void do_limit_files(void)
{
    const struct rlimit small = {64, 64};

    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
}

static void do_look_at_descriptors(void)
{
    static const kal_u64 five = 5;
    struct stat file;

    CHECK(kal_prof_counter("five", 4, &five) == kal_ok);
    for (int fd = 0; fd < 3; fd++) {
        if (fstat(fd, &file) == 0 || errno != EBADF)
            _exit(100 + fd);
    }
}

static void do_props(void)
{
    _exit((int)kal_prof_props());
}

static const struct scenario scenarios[] = {
    {"nothing", do_nothing},
    {"calls", do_calls},
    {"abort", do_abort},
    {"abort-with-line", do_abort_with_line},
    {"abort-in-silence", do_abort_in_silence},
    {"fault", do_fault},
    {"fault-in-writer", do_fault_in_writer},
    {"counters", do_counters},
    {"many", do_many},
    {"signal-while-it-ends", do_signal_while_it_ends},
    {"fault-sent-while-it-ends", do_fault_sent_while_it_ends},
    {"threads", do_threads},
    {"race", do_race},
    {"use-up-descriptors", do_use_up_descriptors},
    {"limit-files", do_limit_files},
    {"look-at-descriptors", do_look_at_descriptors},
    {"props", do_props},
};

int main(int argc, char **argv)
{
    run_scenario(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
