/* openkal.terminal: putting the mode back.                                                SPEC: TERM-3, TERM-4, TERM-5
 *
 * The mode is put back by whatever ends the process and can still run code: the runner's ends and its signal handlers.
 * For SIGKILL there is a guard, a process of its own for each terminal that waits for this one's end. It is okhost
 * started anew: a copy of this process would keep its memory, and everything that it has open. */
#define _GNU_SOURCE
#include <openkal/types.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "host.h"
#include "spawn.h"
#include "sys.h"
#include "terminal.h"

#define MAX_TERMINALS 8

#define MILLISECOND 1000000
#define LOOKS 100 /* a tenth of a second for a change that is under way */

/* Shared with the guard, which reads it when this process has ended. */
struct record {
    struct termios before, set;
};

struct terminal {
    dev_t device;
    int fd; /* this module's own */
    struct record *record;
    pid_t guard; /* 0: none */
};

static struct terminal terminals[MAX_TERMINALS];
static int count;
static pid_t owner;   /* a copy of this address space is not the one that changed them */
static pid_t changer; /* the thread that sets a mode now; 0: none */
static bool ending;   /* no mode is set any more: it would not be put back */

static bool is_as_set(int fd, const struct record *record)
{
    const struct termios *set = &record->set;
    struct termios now;

    return tcgetattr(fd, &now) == 0 && now.c_iflag == set->c_iflag && now.c_oflag == set->c_oflag &&
           now.c_cflag == set->c_cflag && now.c_lflag == set->c_lflag &&
           memcmp(now.c_cc, set->c_cc, sizeof now.c_cc) == 0;
}

/* Whether the terminal is another program's now. */
static bool in_background(int fd)
{
    pid_t group = tcgetpgrp(fd);

    return group > 0 && group != getpgrp();
}

static void put_back(int fd, const struct record *record)
{
    sigset_t background, before;

    sigemptyset(&background); /* which would stop this program instead */
    sigaddset(&background, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &background, &before);
    (void)tcsetattr(fd, TCSANOW, &record->before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* What another thread is about to set must not come after what is put back. */
static void wait_for_changer(void)
{
    const struct timespec moment = {.tv_nsec = MILLISECOND};

    for (int looks = 0; looks < LOOKS; looks++) {
        pid_t thread = __atomic_load_n(&changer, __ATOMIC_SEQ_CST);

        if (thread == 0 || thread == gettid())
            return;
        nanosleep(&moment, NULL);
    }
}

/* Leave no process behind for somebody else to reap. */
static void dismiss(struct terminal *terminal)
{
    pid_t guard = __atomic_exchange_n(&terminal->guard, 0, __ATOMIC_ACQ_REL);

    if (guard == 0 || kill(guard, SIGKILL) != 0)
        return;
    while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
        ;
}

void terminal_restore(void)
{
    if (owner != getpid())
        return;
    __atomic_store_n(&ending, true, __ATOMIC_SEQ_CST);
    wait_for_changer();
    for (int i = __atomic_load_n(&count, __ATOMIC_ACQUIRE) - 1; i >= 0; i--) {
        if (!in_background(terminals[i].fd) || is_as_set(terminals[i].fd, terminals[i].record))
            put_back(terminals[i].fd, terminals[i].record);
        dismiss(&terminals[i]);
    }
}

/* Its session is its own and its signals are blocked from the start: those of the terminal do not reach it, what would
 * end the program's group of programs neither, and it is not held to be in the background. */
_Noreturn void terminal_guard(void)
{
    struct pollfd process = {.fd = STDERR_FILENO, .events = POLLIN};
    struct record record;

    prctl(PR_SET_NAME, "okhost-terminal");
    (void)!chdir("/"); /* it keeps no other place busy */
    while (poll(&process, 1, -1) < 0 && errno == EINTR)
        ;
    if (pread(STDIN_FILENO, &record, sizeof record, 0) == (ssize_t)sizeof record && is_as_set(STDOUT_FILENO, &record))
        put_back(STDOUT_FILENO, &record);
    _exit(0);
}

/* Ensures:  0, or the errno value and there is none. */
static int post_guard(struct terminal *terminal, int record)
{
    char name[] = "okhost", argument[] = TERMINAL_GUARD;
    char *argv[] = {name, argument, NULL}, *envp[] = {NULL};
    int process = sys_keep((int)syscall(SYS_pidfd_open, getpid(), 0)), error;
    const struct spawn guard = {.path = "/proc/self/exe", .argv = argv, .envp = envp,
                                .streams = {record, terminal->fd, process}, .work = -1, .group = SPAWN_OWN_SESSION};
    sigset_t all, before;
    pid_t pid;

    if (process < 0)
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    error = spawn(&guard, &pid);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        terminal->guard = pid;
    close(process);
    return error;
}

/* Whether there is something missing that there may be at another time. A system that has no such calls, or lets nobody
 * make them, is left without a guard. */
static bool is_short_of(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

/* Make the record of a terminal, and have it guarded.
 * Ensures:  0, or the errno value. */
static int make_record(struct terminal *terminal, const struct termios *now)
{
    int memory = sys_keep(memfd_create("terminal", MFD_CLOEXEC)), error;
    void *record = MAP_FAILED;

    if (memory < 0)
        return errno;
    if (ftruncate(memory, sizeof *terminal->record) == 0)
        record = mmap(NULL, sizeof *terminal->record, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    error = record == MAP_FAILED ? errno : 0;
    if (error == 0) {
        terminal->record = record;
        *terminal->record = (struct record){.before = *now, .set = *now};
        error = post_guard(terminal, memory);
        if (is_short_of(error))
            munmap(record, sizeof *terminal->record);
        else
            error = 0;
    }
    close(memory);
    return error;
}

/* What is the same for every path to a terminal, as /dev/tty and its own, where the system says it. */
static dev_t device_of(int fd)
{
    unsigned device;
    struct stat node;

    if (ioctl(fd, TIOCGDEV, &device) == 0)
        return device;
    return fstat(fd, &node) == 0 ? node.st_rdev : 0;
}

int terminal_keep(int fd, const struct termios *now, struct terminal **out)
{
    dev_t device = device_of(fd);
    struct terminal *terminal;
    int error;

    if (owner != getpid()) {
        count = 0;
        ending = false;
        owner = getpid();
        fault_watch_all();
    }
    for (int i = 0; i < count; i++) {
        *out = &terminals[i];
        if (terminals[i].device == device)
            return kal_ok;
    }
    if (count == MAX_TERMINALS)
        return kal_err_no_memory;
    terminal = &terminals[count];
    *terminal = (struct terminal){.device = device, .fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    error = terminal->fd < 0 ? errno : make_record(terminal, now);
    if (error != 0) {
        if (terminal->fd >= 0)
            close(terminal->fd);
        return is_short_of(error) ? kal_err_no_memory : sys_error(error);
    }
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    *out = terminal;
    return kal_ok;
}

const struct termios *terminal_before(const struct terminal *terminal)
{
    return &terminal->record->before;
}

int terminal_set(struct terminal *terminal, struct termios *mode)
{
    int error = kal_err_again;

    __atomic_store_n(&changer, gettid(), __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST)) {
        terminal->record->set = *mode;
        SYS_RETRY(error, tcsetattr(terminal->fd, TCSANOW, mode));
        if (tcgetattr(terminal->fd, mode) == 0)
            terminal->record->set = *mode;
    }
    __atomic_store_n(&changer, 0, __ATOMIC_SEQ_CST);
    return error;
}
