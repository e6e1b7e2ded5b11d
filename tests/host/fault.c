/* Signals that end the process: what is written first, in which order, and that the process still dies by the signal.
 * Each case is a child that faults on a stack of the image; functions of this program stand for those of the image. */
#include "fault.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "good_plan.h"
#include "heap.h"
#include "implementation.h"
#include "kal/terminal.h"
#include "load.h"
#include "measure.h"

struct image host_image;

static struct good_plan good;
static struct plan plan;
static char text[16384]; /* what the last child wrote on standard error */
static volatile int *volatile nowhere;
static bool fault_again;
static int tells_other_than; /* the report: a signal, or 0 */

__attribute__((no_sanitize("undefined"))) void measure_end(enum end_by by, int status, int signal_number)
{
    host_put("measured %d %d %d\n", (int)by, status, signal_number);
    if (fault_again)
        *nowhere = 1;
}

bool measure_tells_other(int signal_number)
{
    return tells_other_than != 0 && signal_number != tells_other_than;
}

bool implementation_has_code(uint64_t address)
{
    (void)address;
    return false;
}

void terminal_restore(void)
{
}

static unsigned postpone; /* so many signals */

bool heap_postpone(int signal_number)
{
    if (postpone == 0)
        return false;
    host_put("postponed %d\n", signal_number);
    postpone--;
    return true;
}

static bool wrote(const char *part)
{
    return strstr(text, part) != NULL;
}

/* Run the body in a child, which is ready for faults, and return its wait status. */
static int run(void (*before)(void), bool measured, int (*body)(void))
{
    int pipes[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t child;

    CHECK(pipe(pipes) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct refusal why;

        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        if (before != NULL)
            before();
        CHECK(map_stack(16 * PLAN_PAGE, &host_stack.lo, &host_stack.hi, &why));
        fault_begin(measured);
        _exit(enter((uintptr_t)body, host_stack.hi, NULL) & 255);
    }
    close(pipes[1]);
    while ((got = read(pipes[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = 0;
    close(pipes[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static bool died_by(int status, int signal_number)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == signal_number;
}

/* The fault itself is wanted, not the sanitizer's word on it. */
__attribute__((no_sanitize("undefined"))) static int write_to_null(void)
{
    poll(NULL, 0, 0); /* a function that calls another has a frame of its own on every processor */
    *nowhere = 1;
    return 0;
}

__attribute__((no_sanitize("undefined"))) static int call_nothing(void)
{
    int (*volatile function)(void) = NULL;

    return function() + 1;
}

static volatile bool for_ever = true;

static int recurse(void)
{
    volatile char block[2048];

    block[0] = 1;
    return (for_ever ? recurse() : 0) + block[0];
}

static int illegal(void)
{
    __asm__ volatile(".long 0\n" /* udf on AArch64 */
#if HOST_MACHINE == 62
                     "ud2\n"
#endif
    );
    return 0;
}

static int kill_self(int signal_number)
{
    kill(getpid(), signal_number);
    poll(NULL, 0, 0);
    return 9;
}

static int kill_by_term(void)
{
    return kill_self(SIGTERM);
}

static int kill_by_segv(void)
{
    return kill_self(SIGSEGV);
}

static int kill_by_child(void)
{
    return kill_self(SIGCHLD);
}

static void faults_are_reported_and_end_by_their_signal(void)
{
    int status = run(NULL, false, write_to_null);

    CHECK(died_by(status, SIGSEGV));
    CHECK(strncmp(text, "okrun: a.ok: SIGSEGV, nothing is mapped there (address 0x0)\n", 60) == 0);
    CHECK(wrote("\n    pc 0x") && wrote("    #0 okhost\n") && !wrote("    #1"));
    CHECK(wrote("measured 3 139 11\n"));

    CHECK(died_by(run(NULL, false, call_nothing), SIGSEGV));
    CHECK(wrote("    #0 0x0\n    #1 okhost\n") && !wrote("    #2"));

    status = run(NULL, true, illegal);
    CHECK(WIFSIGNALED(status) && wrote("okrun: a.ok: SIG"));
}

static void stack_overflow_is_reported(void)
{
    CHECK(died_by(run(NULL, false, recurse), SIGSEGV));
    CHECK(wrote("SIGSEGV, stack overflow (address 0x") && wrote("    #63 okhost\n    ...\n"));
}

static void fault_sent_by_a_process_is_reported_too(void)
{
    CHECK(died_by(run(NULL, false, kill_by_segv), SIGSEGV));
    CHECK(strncmp(text, "okrun: a.ok: SIGSEGV\n", 21) == 0);
}

static void make_report_fault(void)
{
    fault_again = true;
}

static void a_second_fault_ends_at_once(void)
{
    CHECK(died_by(run(make_report_fault, true, write_to_null), SIGSEGV));
    CHECK(wrote("measured 3 139 11\n") && strstr(strstr(text, "okrun:") + 1, "okrun:") == NULL);
}

static void other_signals_end_with_a_report_where_something_is_measured(void)
{
    CHECK(died_by(run(NULL, true, kill_by_term), SIGTERM));
    CHECK(strcmp(text, "measured 3 143 15\n") == 0);
    CHECK(died_by(run(NULL, false, kill_by_term), SIGTERM));
    CHECK(strcmp(text, "") == 0);
    CHECK(WEXITSTATUS(run(NULL, true, kill_by_child)) == 9 && strcmp(text, "") == 0);
}

static void postpone_one(void)
{
    postpone = 1;
}

static int kill_by_term_twice(void)
{
    (void)kill_self(SIGTERM);
    return kill_self(SIGTERM);
}

/* A signal that comes while the heap's book is changed ends nothing; a fault cannot wait. */
static void what_is_postponed_ends_when_it_comes_again(void)
{
    CHECK(WEXITSTATUS(run(postpone_one, true, kill_by_term)) == 9 && wrote("postponed 15") && !wrote("measured"));
    CHECK(died_by(run(postpone_one, true, kill_by_term_twice), SIGTERM) && wrote("postponed 15\nmeasured 3 143 15"));
    CHECK(died_by(run(postpone_one, true, write_to_null), SIGSEGV) && !wrote("postponed") && wrote("measured"));
}

static void tell_of_abort(void)
{
    tells_other_than = SIGABRT;
}

static int kill_by_all(void)
{
    (void)kill_self(SIGSEGV);
    (void)kill_self(SIGTERM);
    return kill_self(SIGABRT);
}

/* What is sent to a process that already tells how it ends changes nothing; a fault of its own ends it. */
static void what_is_told_is_the_end(void)
{
    CHECK(died_by(run(tell_of_abort, true, kill_by_all), SIGABRT));
    CHECK(!wrote("SIGSEGV") && !wrote("measured 3 143 15") && wrote("measured 3 134 6"));
    CHECK(died_by(run(tell_of_abort, true, write_to_null), SIGSEGV) && wrote("SIGSEGV"));
}

static void ignore_some(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGSEGV, SIG_IGN);
}

static void what_is_ignored_stays_ignored(void)
{
    CHECK(WEXITSTATUS(run(ignore_some, true, kill_by_term)) == 9 && strcmp(text, "") == 0);
    CHECK(WEXITSTATUS(run(ignore_some, true, kill_by_segv)) == 9 && strcmp(text, "") == 0);
    CHECK(died_by(run(ignore_some, true, write_to_null), SIGSEGV) && wrote("SIGSEGV"));
}

int main(void)
{
    good = good_plan();
    plan = view_of(&good);
    host_image = (struct image){.plan = &plan, .fd = -1};
    faults_are_reported_and_end_by_their_signal();
    stack_overflow_is_reported();
    fault_sent_by_a_process_is_reported_too();
    a_second_fault_ends_at_once();
    other_signals_end_with_a_report_where_something_is_measured();
    what_is_postponed_ends_when_it_comes_again();
    what_is_told_is_the_end();
    what_is_ignored_stays_ignored();
    return 0;
}
