/* openkal.process: programs that end together.                                                     SPEC: PROC-7
 *
 * A job is a group of processes, led by the first program that was started in it. That one is held, so that the group's
 * number stays the job's. The program that made the job stays in its own group, which whoever started it may go by. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "../measure.h"
#include "child.h"
#include "handle.h"
#include "sys.h"
#include "terminal.h"

struct job {
    pthread_mutex_t lock;
    struct child maker;   /* the program that entered it */
    struct child *leader; /* null: nothing was started in it */
    pid_t group;          /* 0: there is none yet */
};

static kal_uintptr entered; /* the job that this program is in; 0: none */

static void end_job(struct handle *handle)
{
    struct job *job = handle->state;

    if (job->leader)
        child_let_go(job->leader);
    if (job->maker.pidfd >= 0)
        close(job->maker.pidfd);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

struct handle *job_get(const struct kal_job *job)
{
    return handle_get(HANDLE_JOB, job ? job->h : __atomic_load_n(&entered, __ATOMIC_ACQUIRE));
}

pid_t job_start(struct handle *handle)
{
    struct job *job = handle->state;

    pthread_mutex_lock(&job->lock);
    return job->group;
}

void job_started(struct handle *handle, struct child *child)
{
    struct job *job = handle->state;

    if (child && job->group == 0) {
        child_hold(child);
        job->leader = child;
        job->group = child->pid;
    }
    if (child)
        (void)setpgid(child->pid, job->group); /* it does so itself, but an emulator need not have waited for that */
    pthread_mutex_unlock(&job->lock);
}

void job_copied(struct handle *handle)
{
    struct job *job = handle->state;

    if (job->group == 0)
        job->group = getpid();
    pthread_mutex_unlock(&job->lock);
}

/* Make a job with this program in it.
 * Ensures:  what this program starts from now on is in it, too, where it names no other job; kal_err_exists where it
 *           is in one already.                                                                    SPEC: PROC-7 */
int kal_process_job_enter(struct kal_job *out)
{
    kal_uintptr none = 0, word;
    struct job *job;

    if (out == NULL)
        return kal_err_invalid;
    job = calloc(1, sizeof *job);
    if (job == NULL)
        return kal_err_no_memory;
    pthread_mutex_init(&job->lock, NULL);
    job->maker = (struct child){.pid = getpid(), .parent = getpid(), .pidfd = child_open(getpid())};
    word = handle_new(HANDLE_JOB, -1, job, end_job);
    if (word == 0) {
        end_job(&(struct handle){.state = job});
        return kal_err_no_memory;
    }
    if (!__atomic_compare_exchange_n(&entered, &none, word, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        (void)handle_close(HANDLE_JOB, word);
        return kal_err_exists;
    }
    out->h = word;
    return kal_ok;
}

/* End every program of the job, this one last.
 * Ensures:  it returns only where word is no job: kal_err_invalid.                                SPEC: PROC-7 */
int kal_process_job_terminate(struct kal_job word)
{
    struct handle *handle = handle_get(HANDLE_JOB, word.h);
    struct job *job;

    if (handle == NULL)
        return kal_err_invalid;
    job = handle->state;
    pthread_mutex_lock(&job->lock); /* nothing more is started in it */
    terminal_restore();
    measure_end(END_SIGNAL, 128 + SIGKILL, SIGKILL); /* first: a copy of the maker is in the group */
    if (job->maker.pid != getpid())
        (void)child_end(&job->maker);
    if (job->group != 0)
        kill(-job->group, SIGKILL);
    kill(getpid(), SIGKILL);
    _exit(128 + SIGKILL); /* the first process of a container does not die by a signal that it sends itself */
}

/* Let go of it: its programs run on, and this one is in it no more. */
void kal_process_job_close(struct kal_job job)
{
    kal_uintptr word = job.h;

    if (handle_close(HANDLE_JOB, word) == kal_ok)
        (void)__atomic_compare_exchange_n(&entered, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
