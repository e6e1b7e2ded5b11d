/* Programs that were started, and jobs: what openkal.process and openkal.space share. */
#ifndef OKHOST_KAL_CHILD_H
#define OKHOST_KAL_CHILD_H

#include <openkal/process.h>
#include <sys/types.h>

/* A program that was started. It is reaped when nobody holds it any more: until then its number, and the number of the
 * group that it leads, are nobody else's. */
struct child {
    pid_t pid;
    pid_t parent; /* a copy of this address space has the child, too, and is not its parent */
    int pidfd;    /* -1: there was none to be had */
    int holders;
};

/* Keep a child that was just started, for its first holder; null where there is no memory: it is ended then. */
struct child *child_keep(pid_t pid);
void child_hold(struct child *child);
void child_let_go(struct child *child);

/* A handle for a child, which becomes the handle's; kal_err_no_memory: it is ended and let go. */
int child_issue(struct child *child, struct kal_process *out);

/* A descriptor that stands for a process, or -1. */
int child_open(pid_t pid);

/* End it by SIGKILL.
 * Ensures:  kal_ok, also where it has ended and is not reaped. */
int child_end(const struct child *child);

/* Have the ends of children be known: whoever started this program may have it ignore them. */
void child_expect(void);

struct job;

/* A job, held until handle_put(); null where it is none. With null for a job: the one that this program entered, or
 * null. */
struct handle *job_get(const struct kal_job *job);

/* The group that a program of the job is to be started in: 0: one of its own. Nobody else starts one in the job until
 * job_started(), or in a copy job_copied(). */
pid_t job_start(struct handle *job);

/* child was started in the job, or null: it was not. */
void job_started(struct handle *job, struct child *child);

/* This process is the copy that was started in the job. */
void job_copied(struct handle *job);

#endif
