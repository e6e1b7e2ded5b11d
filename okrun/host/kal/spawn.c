/* The child of a start: from a copy of this process to another program.
 *
 * The child shares this process's memory until it is another program, as posix_spawn()'s does: to copy the page tables
 * of a large image costs more than everything else. It changes nothing here but `error`, and calls the system only. */
#define _GNU_SOURCE
#include "spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copied.h"

#define STACK_SIZE ((size_t)64 << 10)
#define FIRST_GRANT 3
#define ABOVE_ALL (FIRST_GRANT + SPAWN_GRANTS + 1) /* where descriptors wait that are to be moved below */
#define LISTING 4096

/* A function of the child: what sanitizers note of its stack would stay noted of that memory after it. */
#define IN_CHILD __attribute__((no_sanitize("address")))

struct child {
    const struct spawn *what;
    pid_t parent;
    sigset_t mask; /* of the thread that starts it */
    int error;
};

/* Handlers of this program must not run in the child, whose memory is this program's. */
IN_CHILD static void drop_handlers(void)
{
    for (int n = 1; n < NSIG; n++) {
        struct sigaction action;

        if (sigaction(n, NULL, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
            action = (struct sigaction){.sa_handler = SIG_DFL};
            (void)sigaction(n, &action, NULL);
        }
    }
}

/* Put copies of the descriptors out of the way of the numbers that they are to have, then there. */
IN_CHILD static int place_descriptors(const struct spawn *what)
{
    int waiting[SPAWN_STREAMS + SPAWN_GRANTS + 1];
    size_t last = SPAWN_STREAMS + what->grant_count, count = last + (what->program > 0);

    for (size_t i = 0; i < count; i++) {
        int fd = i < SPAWN_STREAMS ? what->streams[i] : i < last ? what->grants[i - SPAWN_STREAMS] : what->program;

        waiting[i] = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_ALL);
        if (waiting[i] < 0 && !(errno == EBADF && fd < SPAWN_STREAMS)) /* inherited, and closed here, too */
            return errno == EINVAL ? EMFILE : errno; /* it may have fewer than that */
    }
    for (size_t i = 0; i < count; i++) {
        if (waiting[i] < 0)
            close((int)i);
        else if ((i < last ? dup2(waiting[i], (int)i) : dup3(waiting[i], (int)i, O_CLOEXEC)) < 0)
            return errno;
    }
    return 0;
}

/* For kernels that have no close_range(). */
IN_CHILD static int close_one_by_one(int from)
{
    char entries[LISTING] __attribute__((aligned(8)));
    int list = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got;

    if (list < 0)
        return errno;
    while ((got = syscall(SYS_getdents64, list, entries, sizeof entries)) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            int fd = atoi(entry->d_name);

            if (fd >= from && entry->d_name[0] != '.')
                (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
            at += entry->d_reclen;
        }
    }
    close(list);
    return got < 0 ? errno : 0;
}

IN_CHILD static int close_others(const struct spawn *what)
{
    int from = FIRST_GRANT + (int)what->grant_count + (what->program > 0);

    return syscall(SYS_close_range, from, ~0u, 0) == 0 ? 0 : close_one_by_one(from);
}

IN_CHILD static int prepare(const struct child *child)
{
    const struct spawn *what = child->what;
    int error;

    if (what->group >= 0 && setpgid(0, what->group) != 0)
        return errno;
    if (what->group == SPAWN_OWN_SESSION && setsid() < 0)
        return errno;
    if (what->bound && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != child->parent))
        return ESRCH;
    if (what->work >= 0 && fchdir(what->work) != 0)
        return errno;
    error = place_descriptors(what);
    return error != 0 ? error : close_others(what);
}

/* Returns only with errno. Kernels and emulators without the call take the path. */
IN_CHILD static void execute(const struct spawn *what)
{
    int program = FIRST_GRANT + (int)what->grant_count;

    if (what->program > 0) {
        (void)syscall(SYS_execveat, program, "", what->argv, what->envp, AT_EMPTY_PATH);
        if (errno != ENOSYS)
            return;
    }
    execve(what->path, what->argv, what->envp);
}

IN_CHILD static int become(void *argument)
{
    struct child *child = argument;

    drop_handlers();
    child->error = prepare(child);
    if (child->error == 0) {
        pthread_sigmask(SIG_SETMASK, &child->mask, NULL);
        execute(child->what);
        child->error = errno;
    }
    _exit(127);
}

/* Start it from the calling thread; mask is that of whoever asked. */
static int start(const struct spawn *what, const sigset_t *mask, pid_t *pid)
{
    struct child child = {.what = what, .parent = getpid(), .mask = *mask};
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (stack == MAP_FAILED)
        return ENOMEM;
    *pid = clone(become, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    if (*pid < 0)
        child.error = errno;
    else if (child.error != 0)
        (void)waitpid(*pid, NULL, 0);
    munmap(stack, STACK_SIZE);
    return child.error;
}

struct request {
    const struct spawn *what;
    const sigset_t *mask;
    pid_t pid;
    int error;
    bool done;
};

/* A child that is bound to its parent is so to the thread that started it. The one that starts them does not end. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct request *request;
    pid_t employed; /* the process that has such a thread: a copy of this address space has none */
} starter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};
FREE_IN_COPIES(starter.lock)

static void *start_what_is_asked(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&starter.lock);
    for (;;) {
        struct request *request = starter.request;

        if (request == NULL) {
            pthread_cond_wait(&starter.changed, &starter.lock);
            continue;
        }
        request->error = start(request->what, request->mask, &request->pid);
        request->done = true;
        starter.request = NULL;
        pthread_cond_broadcast(&starter.changed);
    }
    return NULL;
}

/* Requires: the lock is held, and signals are blocked: the thread is to have none. */
static int employ(void)
{
    pthread_t thread;
    int error;

    if (starter.employed == getpid())
        return 0;
    starter.request = NULL; /* and nobody waits: where this is a copy, others did so in the original */
    starter.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    error = pthread_create(&thread, NULL, start_what_is_asked, NULL);
    if (error == 0) {
        pthread_detach(thread);
        starter.employed = getpid();
    }
    return error;
}

static int start_bound(const struct spawn *what, const sigset_t *mask, pid_t *pid)
{
    struct request request = {.what = what, .mask = mask};
    int error;

    pthread_mutex_lock(&starter.lock);
    error = employ();
    if (error == 0) {
        while (starter.request != NULL)
            pthread_cond_wait(&starter.changed, &starter.lock);
        starter.request = &request;
        pthread_cond_broadcast(&starter.changed);
        while (!request.done)
            pthread_cond_wait(&starter.changed, &starter.lock);
        error = request.error;
        *pid = request.pid;
    }
    pthread_mutex_unlock(&starter.lock);
    return error;
}

int spawn(const struct spawn *what, pid_t *pid)
{
    sigset_t all, mask;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    error = what->bound ? start_bound(what, &mask, pid) : start(what, &mask, pid);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return error;
}
