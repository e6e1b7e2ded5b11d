/* Phases of what a measured image does, without an image: as measured.c, for tests/host/test_phases.py. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured.h"

#define WORKERS 8
#define CHANGERS 2
#define WORKER_CALLS 20000
#define CHANGES 300
#define MANY 10000
#define NAMES 4096
#define LISTED 100000

static const char *const names[] = {"p0", "p1", "p2", "p3", "p4"};

static void phase(const char *name)
{
    CHECK(CALL(kal_prof_phase, name, strlen(name)) == kal_ok);
}

static void counter(const char *name, const kal_u64 *cell)
{
    CHECK(CALL(kal_prof_counter, name, strlen(name), cell) == kal_ok);
}

static void call(int times)
{
    for (int i = 0; i < times; i++)
        (void)CALL(kal_version);
}

static void do_times(void)
{
    CHECK(CALL(kal_prof_phase, NULL, 0) == kal_ok);
    phase("read");
    kal_time_sleep(3000000);
    phase("work");
    phase("read");
    phase("");
    kal_time_sleep(3000000);
    phase("last");
    kal_time_sleep(1000000);
}

static void do_script(void)
{
    static kal_u64 a, b, c = 50;

    counter("a", &a);
    counter("b", &b);
    call(2);
    phase("one");
    call(3);
    (void)CALL(kal_memory_granularity);
    a += 5;
    phase("two");
    call(4);
    b += 7;
    phase("one");
    call(5);
    a += 1;
    phase("");
    call(6);
    a += 100;
    phase("three");
    call(7);
    counter("c", &c);
    c += 10;
    b -= 2;
}

static kal_u64 done[WORKERS];

static void *work(void *argument)
{
    void *counts = measure_thread_new();
    volatile kal_u64 *cell = argument;

    CHECK(counts != NULL);
    measure_thread_begin(counts);
    for (int i = 0; i < WORKER_CALLS; i++) {
        (void)CALL(kal_memory_granularity);
        if (i % 2 == 0)
            call(1);
        ++*cell;
    }
    measure_thread_end(counts);
    return NULL;
}

static void *change(void *argument)
{
    void *counts = measure_thread_new();

    CHECK(counts != NULL);
    measure_thread_begin(counts);
    for (int i = 0; i < CHANGES; i++)
        phase(names[i % 5]);
    measure_thread_end(counts);
    return argument;
}

/* Whoever changes the phase does so for all. */
static void do_at_once(void)
{
    pthread_t threads[WORKERS + CHANGERS];

    for (int i = 0; i < WORKERS; i++)
        counter("work", &done[i]);
    phase("p0");
    for (int i = 0; i < WORKERS + CHANGERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i < WORKERS ? work : change, i < WORKERS ? &done[i] : NULL) == 0);
    for (int i = 0; i < WORKERS + CHANGERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static kal_u64 many[MANY];

static void have_many(int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];

        CHECK(snprintf(name, sizeof name, "counter %d", i) > 0);
        counter(name, &many[i]);
    }
}

/* Change the phase for ever, with calls and counters in each. */
static void *change_for_ever(void *argument)
{
    void *counts = measure_thread_new();

    CHECK(counts != NULL);
    measure_thread_begin(counts);
    for (int i = 0;; i++) {
        phase(names[i % 5]);
        call(i % 3);
        many[i % 600]++;
    }
    return argument;
}

static void do_end_while_it_changes(void)
{
    pthread_t thread;

    have_many(600);
    phase("p0");
    CHECK(pthread_create(&thread, NULL, change_for_ever, NULL) == 0);
    CHECK(usleep((useconds_t)atoi(host_image.argv[1])) == 0);
    CALL(kal_exit, 7);
}

static void on_timer(int number)
{
    measure_end(END_SIGNAL, 128 + number, number);
    _exit(128 + number);
}

/* The process ends in a signal handler above whatever the change is doing. */
static void do_signal_while_it_changes(void)
{
    const struct itimerval soon = {.it_value = {0, atoi(host_image.argv[1])}};

    have_many(600);
    phase("p0");
    signal(SIGALRM, on_timer);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    (void)change_for_ever(NULL);
}

static void do_names(void)
{
    char name[16];

    for (int i = 0; i < NAMES; i++) {
        CHECK(snprintf(name, sizeof name, "%d", i) > 0);
        phase(name);
    }
    CHECK(CALL(kal_prof_phase, "one more", 8) == kal_err_no_memory);
    call(1);
    phase("0");
}

static void do_list(void)
{
    for (int i = 0; i < LISTED; i++)
        phase(names[i % 2]);
    phase("p2");
    call(4);
    phase("p1");
    phase("p1");
}

/* Whether a cell is there, from now on. */
static void have_cell(kal_u64 *cell, bool there)
{
    CHECK(mprotect(cell, (size_t)sysconf(_SC_PAGESIZE), there ? PROT_READ | PROT_WRITE : PROT_NONE) == 0);
}

static void do_lost(void)
{
    kal_u64 *cell = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    kal_u64 *gone = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(cell != MAP_FAILED && gone != MAP_FAILED);
    counter("absent once", cell);
    counter("gone", gone);
    counter("there", &many[0]);
    phase("one");
    *cell = *gone = many[0] = 5;
    have_cell(cell, false);
    phase("two");
    have_cell(cell, true);
    *cell = 9;
    many[0] = 7;
    phase("three");
    CHECK(munmap(gone, 1 << 16) == 0);
}

static void do_many(void)
{
    have_many(MANY);
    for (int i = 0; i < 100; i++) {
        phase(names[i % 5]);
        for (int k = i % 5; k < MANY; k += 5)
            many[k] += (kal_u64)k;
    }
}

/* More cells than there is memory to keep. */
static void do_full(void)
{
    kal_u64 *cells = mmap(NULL, (size_t)1 << 26, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int i = 0;

    CHECK(cells != MAP_FAILED);
    counter("last", &many[0]);
    phase("one");
    phase("");
    while (kal_prof_counter("all", 3, &cells[i]) == kal_ok)
        CHECK(++i < 1 << 23);
    CHECK(kal_prof_counter("all", 3, &cells[i]) == kal_err_no_memory);
    CHECK(kal_prof_counter("one more", 8, cells) == kal_err_no_memory);
    CHECK(kal_prof_counter("all", 3, cells) == kal_ok); /* it is there */
    phase("one");
    CHECK(kal_prof_phase("another", 7) == kal_err_no_memory);
    many[0] += 3;
    cells[i - 1] = 5;
    CHECK(kal_prof_phase("", 0) == kal_err_no_memory); /* for what has grown */
    CHECK(kal_prof_phase("", 0) == kal_err_no_memory);
    many[0] += 4;
}

static bool registered;

static void *register_for_ever(void *argument)
{
    static const kal_u64 seven = 7;

    for (int i = 0;; i++) {
        char name[16];

        CHECK(snprintf(name, sizeof name, "%d", i) > 0);
        CHECK(kal_prof_counter(name, strlen(name), &seven) == kal_ok);
        __atomic_store_n(&registered, true, __ATOMIC_RELEASE);
    }
    return argument;
}

static void do_register_while_it_ends(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, register_for_ever, NULL) == 0);
    while (!__atomic_load_n(&registered, __ATOMIC_ACQUIRE))
        sched_yield();
    CHECK(usleep(1000) == 0);
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void do_copy(void)
{
    static kal_u64 cell = 100, other;
    kal_u64 *absent_once = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int descriptors = count_descriptors(), status;
    pid_t copy;

    CHECK(absent_once != MAP_FAILED);
    counter("cell", &cell);
    counter("absent once", absent_once);
    phase("first");
    have_cell(absent_once, false);
    call(3);
    phase("first");
    have_cell(absent_once, true);
    copy = fork();
    if (copy == 0) {
        measure_copied();
        CHECK(count_descriptors() == descriptors);
        counter("cell", &cell);
        counter("other", &other);
        call(1);
        phase("second");
        cell += 5;
        other += 2;
        call(2);
        measure_end(END_EXIT, 9, 0);
        _exit(9);
    }
    CHECK(waitpid(copy, &status, 0) == copy && WEXITSTATUS(status) == 9);
    cell += 20;
    call(4);
}

static const struct scenario scenarios[] = {
    {"times", do_times},
    {"script", do_script},
    {"at-once", do_at_once},
    {"end-while-it-changes", do_end_while_it_changes},
    {"signal-while-it-changes", do_signal_while_it_changes},
    {"names", do_names},
    {"list", do_list},
    {"lost", do_lost},
    {"many", do_many},
    {"full", do_full},
    {"register-while-it-ends", do_register_while_it_ends},
    {"copy", do_copy},
};

int main(int argc, char **argv)
{
    run_scenario(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
