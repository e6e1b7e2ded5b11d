/* openkal.abort: the two ends that a program chooses. */
#define _GNU_SOURCE /* gettid */
#include <openkal/abort.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../measure.h"
#include "sys.h"
#include "terminal.h"

#define ABORT_STATUS 134 /* 128 + SIGABRT: what a shell shows */

/* Not raise(): the C library keeps no frame pointer, and the crash report follows it from here into the image. */
static void raise_abort(void)
{
    syscall(SYS_tgkill, getpid(), gettid(), SIGABRT);
}

/* Write msg on standard error, ended by a line end, and die by SIGABRT.
 * Ensures:  the report is written first. SIGPIPE stays blocked to the end: a standard error whose reader is gone must
 *           not make this a death by SIGPIPE. Other signals can end a wait for a reader that does not read.
 * Never:    returns.                                              SPEC: KAL-7, CRASH-1 */
_Noreturn void kal_abort(const char *msg, kal_uintptr len)
{
    sigset_t broken_pipe, signals;

    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &signals);
    if (len > 0 && sys_is_buffer(msg, len) && sys_write(STDERR_FILENO, false, msg, len) == (kal_intptr)len &&
        msg[len - 1] != '\n')
        (void)sys_write(STDERR_FILENO, false, "\n", 1);
    terminal_restore();
    measure_end(END_ABORT, ABORT_STATUS, SIGABRT);
    sigaddset(&signals, SIGPIPE);
    sigdelset(&signals, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    raise_abort();

    signal(SIGABRT, SIG_DFL); /* it was ignored */
    raise_abort();
    _exit(ABORT_STATUS);
}

/* End the process at once with the low eight bits of code.
 * Never:    returns, or runs a finaliser of the image.            SPEC: KAL-7 */
_Noreturn void kal_exit(int code)
{
    int status = code & 0xff;

    terminal_restore();
    measure_end(END_EXIT, status, 0);
    _exit(status);
}
