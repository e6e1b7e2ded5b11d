/* openkal.process: programs that were started.                                      SPEC: PROC-1 to PROC-8 */
#define _GNU_SOURCE
#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "child.h"
#include "handle.h"
#include "sys.h"

#define POLL_NS 1000000 /* between looks at a child, where the kernel has no pidfd */
#define REAPER_STACK ((size_t)64 << 10)

/* Reap a program that nobody holds any more when it ends. */
static void *reap(void *child)
{
    pid_t pid = (pid_t)(intptr_t)child;

    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return NULL;
}

/* Ensures:  it is a zombie for no longer than it takes to reap it; or, where there is no thread for that, until this
 *           program ends. */
static void abandon(pid_t pid)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;

    if (waitpid(pid, NULL, WNOHANG) != 0 || pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, REAPER_STACK);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the thread is to have none */
    (void)pthread_create(&thread, &attributes, reap, (void *)(intptr_t)pid);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static bool is_ours(const struct child *child)
{
    return child->parent == getpid();
}

int child_open(pid_t pid)
{
    return sys_keep((int)syscall(SYS_pidfd_open, pid, 0));
}

int child_end(const struct child *child)
{
    int done;

    if (child->pidfd >= 0)
        done = (int)syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
    else if (is_ours(child))
        done = kill(child->pid, SIGKILL);
    else
        return kal_err_not_supported; /* its parent may have reaped it, and the number be another's */
    return done == 0 ? kal_ok : sys_error(errno);
}

struct child *child_keep(pid_t pid)
{
    struct child *child = malloc(sizeof *child);

    if (child == NULL) {
        kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return NULL;
    }
    *child = (struct child){.pid = pid, .parent = getpid(), .holders = 1};
    child->pidfd = child_open(pid);
    return child;
}

void child_hold(struct child *child)
{
    __atomic_add_fetch(&child->holders, 1, __ATOMIC_RELAXED);
}

void child_let_go(struct child *child)
{
    if (__atomic_sub_fetch(&child->holders, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (child->pidfd >= 0)
        close(child->pidfd);
    if (is_ours(child))
        abandon(child->pid);
    free(child);
}

static void end_process(struct handle *handle)
{
    child_let_go(handle->state);
}

int child_issue(struct child *child, struct kal_process *out)
{
    kal_uintptr word = handle_new(HANDLE_PROCESS, -1, child, end_process);

    if (word == 0) {
        (void)child_end(child);
        child_let_go(child);
        return kal_err_no_memory;
    }
    out->h = word;
    return kal_ok;
}

void child_expect(void)
{
    struct sigaction action;

    if (sigaction(SIGCHLD, NULL, &action) == 0 &&
        (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0))
        signal(SIGCHLD, SIG_DFL);
}

/* Look at an end without taking it away, so that it can be looked at again. */
static int look(pid_t pid, int flags, siginfo_t *info)
{
    int error;

    info->si_pid = 0;
    SYS_RETRY(error, waitid(P_PID, (id_t)pid, info, WEXITED | WNOWAIT | flags));
    return error;
}

static int look_until(const struct child *child, wait_end end, siginfo_t *info)
{
    if (end == WAIT_FOREVER)
        return look(child->pid, 0, info);
    for (;;) {
        int error = look(child->pid, WNOHANG, info);

        if (error != kal_ok || info->si_pid != 0)
            return error;
        error = child->pidfd >= 0 ? wait_for(child->pidfd, POLLIN, end) : wait_a_moment(POLL_NS, end);
        if (error != kal_ok)
            return error;
    }
}

int process_wait(struct kal_process process, wait_end end, int *status, int *terminated)
{
    struct handle *handle = handle_get(HANDLE_PROCESS, process.h);
    siginfo_t info;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = is_ours(handle->state) ? look_until(handle->state, end, &info) : kal_err_not_supported;
    handle_put(handle);
    if (error != kal_ok)
        return error;
    if (status)
        *status = info.si_status;
    if (terminated)
        *terminated = info.si_code != CLD_EXITED;
    return kal_ok;
}

/* Ensures:  as often as it is asked: the status that the program ended with and *terminated 0, or the number of the
 *           signal that ended it and *terminated 1; either may be null. kal_err_not_supported in a copy of the address
 *           space that started it: the system tells an end to the parent alone.
 * SPEC: PROC-5, SPC-2 */
int kal_process_wait(struct kal_process process, int *status, int *terminated)
{
    return process_wait(process, WAIT_FOREVER, status, terminated);
}

/* End it at once, whatever it does about it.
 * Ensures:  kal_ok, also where it has ended already.                                              SPEC: PROC-5 */
int kal_process_terminate(struct kal_process process)
{
    struct handle *handle = handle_get(HANDLE_PROCESS, process.h);
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = child_end(handle->state);
    handle_put(handle);
    return error;
}

void kal_process_close(struct kal_process process)
{
    (void)handle_close(HANDLE_PROCESS, process.h);
}

/* Ensures:  two streams that are each other's ends, both ways: what is written at one is read at the other, and the
 *           close of one is the end of the other's input.                                         SPEC: PROC-4 */
int kal_process_channel(struct kal_stream *mine, struct kal_stream *theirs)
{
    int ends[2];
    kal_uintptr words[2];

    if (mine == NULL || theirs == NULL)
        return kal_err_invalid;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return sys_error(errno);
    ends[0] = sys_keep(ends[0]);
    ends[1] = sys_keep(ends[1]);
    words[0] = ends[0] < 0 ? 0 : handle_new(HANDLE_CHANNEL, ends[0], NULL, NULL);
    words[1] = ends[1] < 0 ? 0 : handle_new(HANDLE_CHANNEL, ends[1], NULL, NULL);
    if (words[0] != 0 && words[1] != 0) {
        *mine = handle_stream(words[0]);
        *theirs = handle_stream(words[1]);
        return kal_ok;
    }
    for (int i = 0; i < 2; i++) {
        if (words[i] != 0)
            (void)handle_close(HANDLE_CHANNEL, words[i]);
        else if (ends[i] >= 0)
            close(ends[i]);
    }
    return kal_err_no_memory;
}

void kal_process_channel_close(struct kal_stream stream)
{
    (void)handle_close(HANDLE_CHANNEL, stream.h ^ HANDLE_STREAM ^ HANDLE_CHANNEL);
}

kal_uintptr kal_process_props(void)
{
    return KAL_PROCESS_PROP_TERMINATE | KAL_PROCESS_PROP_STREAM_PASSING | KAL_PROCESS_PROP_EXIT_STATUS |
           KAL_PROCESS_PROP_CHANNEL | KAL_PROCESS_PROP_GRANT_DIR | KAL_PROCESS_PROP_BOUND_LIFETIME |
           KAL_PROCESS_PROP_JOB | KAL_PROCESS_PROP_STOP_REQUESTED;
}
