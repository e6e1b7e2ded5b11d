/* openkal.terminal of the native host: what is left of it.                              SPEC: TERM-3, TERM-4, TERM-5 */
#define _GNU_SOURCE
#include "kal_terminal.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#define SOON 5000 /* looks, a millisecond between them */

/* Run a part in a process of its own, whose terminal it is. The guard becomes a child of this process where it is not
 * the part's any more.
 * Ensures:  the terminal, whoever was there having ended; *status as waitpid() gives it. */
static struct pair run(void (*body)(struct pair), int *status)
{
    struct pair p = opened();
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(setsid() > 0 && ioctl(p.terminal, TIOCSCTTY, 0) == 0);
        close(p.screen);
        body(p);
        _exit(0);
    }
    CHECK(waitpid(pid, status, 0) == pid);
    return p;
}

static bool nobody_is_left(void)
{
    int looks = 0;

    while (looks++ < SOON && waitpid(-1, NULL, WNOHANG) >= 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return looks < SOON;
}

static void change_and_restore(struct pair p)
{
    set(p, 0);
    set(p, ALL);
    terminal_restore();
    CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD); /* the guard has ended, and is nobody's to reap */
    CHECK(kal_terminal_set_mode(p.stream, 0) == kal_err_again);
}

static void change_both_ways(struct pair p)
{
    int same_one = open("/dev/tty", O_RDWR | O_CLOEXEC);
    struct pair other = {.terminal = same_one, .stream = stream_of(same_one)};

    set(p, 0);
    set(other, ALL);
    terminal_restore();
}

/* A copy, and what it starts, end as they want. */
static void change_and_copy(struct pair p)
{
    int status;
    pid_t pid;

    set(p, KAL_TERM_ECHO);
    pid = fork();
    if (pid == 0) {
        terminal_restore();
        _exit(mode_of(p.stream) == KAL_TERM_ECHO ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    pid = fork();
    if (pid == 0) { /* what it changes itself it puts back */
        set(p, 0);
        terminal_restore();
        _exit(mode_of(p.stream) == KAL_TERM_ECHO ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    terminal_restore();
}

/* Be in the background from here on: another group has the terminal. */
static void leave_terminal(struct pair p)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        pause();
        _exit(0);
    }
    CHECK(setpgid(pid, pid) == 0 && tcsetpgrp(p.terminal, pid) == 0);
}

static void change_and_leave(struct pair p)
{
    set(p, 0);
    leave_terminal(p);
    terminal_restore();
    kill(-tcgetpgrp(p.terminal), SIGKILL);
}

static void change_and_leave_to_another(struct pair p)
{
    struct termios t;

    set(p, 0);
    t = termios_of(p.terminal);
    t.c_lflag |= NOFLSH;
    CHECK(tcsetattr(p.terminal, TCSANOW, &t) == 0);
    leave_terminal(p);
    terminal_restore();
    kill(-tcgetpgrp(p.terminal), SIGKILL);
}

static void the_mode_is_put_back(void)
{
    void (*const ends[])(struct pair) = {change_and_restore, change_both_ways, change_and_copy, change_and_leave};
    struct pair fresh = opened();
    struct termios before = termios_of(fresh.terminal), after;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        int status;
        struct pair p = run(ends[i], &status);

        CHECK(status == 0);
        after = termios_of(p.terminal);
        CHECK(same(&before, &after));
        CHECK(nobody_is_left());
    }
}

static void what_another_program_set_is_left(void)
{
    int status;
    struct pair p = run(change_and_leave_to_another, &status);

    CHECK(status == 0 && (termios_of(p.terminal).c_lflag & (NOFLSH | ECHO)) == NOFLSH);
    CHECK(nobody_is_left());
}

static void there_is_not_always_room(void)
{
    struct pair pairs[9];
    struct rlimit limit;
    int next;

    for (int i = 0; i < 9; i++)
        pairs[i] = opened();
    next = dup(0);
    close(next);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next, limit.rlim_max}) == 0);
    CHECK(kal_terminal_set_mode(pairs[0].stream, 0) == kal_err_no_memory && mode_of(pairs[0].stream) != 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int i = 0; i < 8; i++)
        set(pairs[i], 0);
    CHECK(kal_terminal_set_mode(pairs[8].stream, 0) == kal_err_no_memory && mode_of(pairs[8].stream) != 0);
    set(pairs[7], ALL);
    terminal_restore();
    for (int i = 0; i < 8; i++)
        CHECK(mode_of(pairs[i].stream) == (KAL_TERM_LINE_EDIT | KAL_TERM_ECHO));
}

#if HOST_MACHINE == 62 /* an emulator starts no program of the other processor */
static void be_killed(struct pair p)
{
    set(p, KAL_TERM_PASS_CONTROL);
    raise(SIGKILL);
}

/* Its group and all that is in it. */
static void be_killed_with_others(struct pair p)
{
    set(p, KAL_TERM_PASS_CONTROL);
    kill(0, SIGKILL);
    pause();
}

static void change_and_let_others_change(struct pair p)
{
    struct termios t;

    set(p, 0);
    t = termios_of(p.terminal);
    t.c_lflag |= NOFLSH;
    CHECK(tcsetattr(p.terminal, TCSANOW, &t) == 0);
    raise(SIGKILL);
}

static bool is_soon_as(int fd, const struct termios *expected)
{
    struct termios now = termios_of(fd);

    for (int looks = 0; !same(&now, expected) && looks < SOON; looks++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        now = termios_of(fd);
    }
    return same(&now, expected);
}

/* The kernel ends it: what is left is the guard. */
static void a_killed_program_is_cleaned_up_after(void)
{
    struct pair fresh = opened(), p;
    struct termios before = termios_of(fresh.terminal);
    int status;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    for (int i = 0; i < 2; i++) {
        p = run(i == 0 ? be_killed : be_killed_with_others, &status);
        CHECK(WIFSIGNALED(status) && is_soon_as(p.terminal, &before));
        CHECK(nobody_is_left());
    }
    p = run(change_and_let_others_change, &status);
    CHECK(WIFSIGNALED(status) && nobody_is_left());
    CHECK((termios_of(p.terminal).c_lflag & (NOFLSH | ECHO)) == NOFLSH);
}
#endif

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], TERMINAL_GUARD) == 0)
        terminal_guard();
    alone(the_mode_is_put_back);
    alone(what_another_program_set_is_left);
    alone(there_is_not_always_room);
#if HOST_MACHINE == 62
    alone(a_killed_program_is_cleaned_up_after);
#endif
    return 0;
}
