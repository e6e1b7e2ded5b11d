/* openkal.space: a copy of this address space.                                                    SPEC: SPC-1, SPC-2 */
#define _GNU_SOURCE
#include <openkal/space.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../fault.h"
#include "../load.h"
#include "../measure.h"
#include "child.h"
#include "handle.h"
#include "sys.h"

#define STACK_ALIGN 16
#define LINE 128 /* bytes of a line of the kernel's list of mappings: what is looked at stands at its beginning */

struct copy {
    void (*entry)(void *);
    void *arg, *stack_top;
    struct handle *job; /* that the copy is to be in, or null */
    sigset_t mask;      /* of the task that starts it */
};

/* Whether a line of the list says that [*lo, hi) may be read and written, and holds an address. */
static bool holds(const char *line, uintptr_t address, uintptr_t *lo)
{
    char *end;
    uintptr_t hi;

    *lo = strtoul(line, &end, 16);
    hi = strtoul(end + (*end == '-'), &end, 16);
    return *lo <= address && address < hi && strncmp(end, " rw", 3) == 0;
}

/* Where the stack begins, as far as that is known: it is not below the mapping that it ends in. With no such mapping,
 * where it ends. */
static void *start_of_stack(void *stack_top)
{
    FILE *list = fopen("/proc/self/maps", "re");
    uintptr_t lo, last = (uintptr_t)stack_top - 1;
    void *start = stack_top;
    bool is_begin = true;
    char line[LINE];

    while (list && start == stack_top && fgets(line, sizeof line, list)) {
        if (is_begin && holds(line, last, &lo))
            start = (void *)lo;
        is_begin = strchr(line, '\n') != NULL;
    }
    if (list)
        fclose(list);
    return start;
}

/* What the copy runs, as its only task. */
static _Noreturn void run(const struct copy *copy, pid_t group)
{
    if (group >= 0 && setpgid(0, group) != 0)
        _exit(0); /* start() finds the same */
    if (copy->job)
        job_copied(copy->job);
    handle_copied();
    host_stack = (struct stack){start_of_stack(copy->stack_top), copy->stack_top};
    fault_copied();
    measure_copied();
    pthread_sigmask(SIG_SETMASK, &copy->mask, NULL);
    (void)enter((uintptr_t)copy->entry, copy->stack_top, copy->arg);
    measure_end(END_RETURN, 0, 0);
    _exit(0);
}

/* Ensures:  0, and *pid; or the errno value, and the copy has run nothing. */
static int start(struct copy *copy, pid_t group, pid_t *pid)
{
    sigset_t all;
    int error = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &copy->mask);
    *pid = fork();
    if (*pid == 0)
        run(copy, group);
    if (*pid < 0) {
        error = errno;
    } else if (group >= 0 && setpgid(*pid, group) != 0) {
        error = errno;
        kill(*pid, SIGKILL);
        (void)waitpid(*pid, NULL, 0);
    }
    pthread_sigmask(SIG_SETMASK, &copy->mask, NULL);
    return error;
}

static int start_in_job(struct copy *copy, struct child **child)
{
    pid_t group = copy->job ? job_start(copy->job) : -1, pid;
    int error = start(copy, group, &pid);

    if (error == 0) {
        *child = child_keep(pid);
        error = *child ? 0 : ENOMEM;
    }
    if (copy->job)
        job_started(copy->job, *child);
    return error == 0 ? kal_ok : sys_error(error);
}

/* Start entry(arg) in a copy of this address space, whose only task it is.
 * Ensures:  in the copy every handle that is open here stands for the same thing, but for those of tasks, which are
 *           not in it; it ends with status 0 when entry returns. kal_err_invalid for a null pointer and a stack that
 *           does not end at a multiple of 16.                                                     SPEC: SPC-1, SPC-2 */
int kal_space_start(void (*entry)(void *), void *arg, void *stack_top, struct kal_process *out)
{
    struct copy copy = {.entry = entry, .arg = arg, .stack_top = stack_top};
    struct child *child = NULL;
    int error;

    if (entry == NULL || stack_top == NULL || (uintptr_t)stack_top % STACK_ALIGN != 0 || out == NULL)
        return kal_err_invalid;
    child_expect();
    copy.job = job_get(NULL);
    error = start_in_job(&copy, &child);
    if (copy.job)
        handle_put(copy.job);
    return error == kal_ok ? child_issue(child, out) : error;
}

kal_uintptr kal_space_props(void)
{
    return KAL_SPACE_PROP_CLONE_HANDLES | KAL_SPACE_PROP_DEFERRED_COPY;
}
