/* Signals that end the process. */
#define _GNU_SOURCE /* gettid */
#include "fault.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crash.h"
#include "heap.h"
#include "host.h"
#include "kal/terminal.h"
#include "measure.h"

#define HANDLER_STACK (64u * 1024) /* the report's buffers take about 16 KiB; what registers take comes on top */

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};

/* What ends no process by itself, or cannot be caught. */
static const int harmless[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

/* Those that people end a program with, which they can while a report waits for a reader of standard error, too. */
static const int stopping[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static sigset_t ignored; /* faults that whoever started us ignores: sent by a process, they stay ignored */
static _Atomic pid_t ending; /* the thread that ends the process; 0: none yet */

static bool is_one_of(int signal_number, const int *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == signal_number)
            return true;
    }
    return false;
}

static bool is_fault(int signal_number)
{
    return is_one_of(signal_number, faults, sizeof faults / sizeof faults[0]);
}

static bool is_stopping(int signal_number)
{
    return is_one_of(signal_number, stopping, sizeof stopping / sizeof stopping[0]);
}

/* Die by the signal, as if there had been no handler. */
static void die_by(int signal_number)
{
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t one;

    sigaction(signal_number, &by_default, NULL);
    syscall(SYS_tgkill, getpid(), gettid(), signal_number);
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(128 + signal_number); /* the first process of a container does not die by a signal that it sends itself */
}

static _Noreturn void wait_for_the_end(void)
{
    sigset_t all;

    sigfillset(&all);
    for (;;)
        sigsuspend(&all);
}

/* Runs with every signal blocked but those of `stopping`: a fault in here ends the process at once, by the kernel; one
 * of those ends it above what is going on, or beside it, in whichever thread it comes to. */
static void on_end(int signal_number, siginfo_t *info, void *context)
{
    pid_t self = gettid(), none = 0;

    if (!is_fault(signal_number) && heap_postpone(signal_number))
        return;
    if ((!is_fault(signal_number) || info->si_code <= 0) && measure_tells_other(signal_number))
        return;
    if (info->si_code <= 0 && sigismember(&ignored, signal_number) == 1)
        return;
    if (!atomic_compare_exchange_strong(&ending, &none, self) && none != self && !is_stopping(signal_number))
        wait_for_the_end();
    if (is_fault(signal_number))
        crash_report(signal_number, info, context);
    terminal_restore();
    measure_end(END_SIGNAL, 128 + signal_number, signal_number);
    die_by(signal_number);
}

void fault_thread_begin(void)
{
    size_t size = HANDLER_STACK + getauxval(AT_MINSIGSTKSZ);
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    stack_t own = {.ss_sp = stack, .ss_size = size};

    /* without one a stack overflow ends the process unreported, which is no reason not to run */
    if (stack != MAP_FAILED)
        sigaltstack(&own, NULL);
}

void fault_thread_end(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, own;

    if (sigaltstack(&none, &own) == 0 && (own.ss_flags & SS_DISABLE) == 0)
        munmap(own.ss_sp, own.ss_size);
}

/* Catch the signals that report a fault, or all that end the process, as far as nobody ignores them. */
static void watch(bool all)
{
    struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART}, before;

    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof stopping / sizeof stopping[0]; i++)
        sigdelset(&action.sa_mask, stopping[i]);
    for (int n = 1; n <= SIGRTMAX; n++) {
        if (!is_fault(n) && (!all || is_one_of(n, harmless, sizeof harmless / sizeof harmless[0])))
            continue;
        if (sigaction(n, NULL, &before) != 0)
            continue; /* the C library's own */
        if (before.sa_handler == SIG_IGN && is_fault(n))
            sigaddset(&ignored, n);
        if (before.sa_handler == SIG_DFL || is_fault(n)) /* not where kal_process_stop_requested() listens */
            sigaction(n, &action, NULL);
    }
}

void fault_begin(bool measured)
{
    fault_thread_begin();
    sigemptyset(&ignored);
    watch(measured);
}

void fault_copied(void)
{
    ending = 0;
}

void fault_watch_all(void)
{
    watch(true);
}
