/* A program of the host's openkal.terminal, with terminals of its own. */
#ifndef TEST_KAL_TERMINAL_H
#define TEST_KAL_TERMINAL_H

#include <errno.h>
#include <fcntl.h>
#include <openkal/stream.h>
#include <openkal/terminal.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "host.h"
#include "kal/handle.h"
#include "kal/terminal.h"

#define ALL (KAL_TERM_LINE_EDIT | KAL_TERM_ECHO | KAL_TERM_PASS_CONTROL)

static int watched;

void fault_watch_all(void)
{
    watched++;
}

/* A terminal: who types and reads its screen, and who has it as its stream. */
struct pair {
    int screen, terminal;
    struct kal_stream stream;
};

static inline struct kal_stream stream_of(int fd)
{
    kal_uintptr word = handle_new(HANDLE_FILE, fd, NULL, NULL);

    CHECK(fd >= 0 && word != 0);
    return handle_stream(word);
}

static inline struct pair opened(void)
{
    struct pair p;

    CHECK(openpty(&p.screen, &p.terminal, NULL, NULL, NULL) == 0);
    p.stream = stream_of(p.terminal);
    return p;
}

static inline struct termios termios_of(int fd)
{
    struct termios t;

    CHECK(tcgetattr(fd, &t) == 0);
    return t;
}

static inline bool same(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

static inline kal_uintptr mode_of(struct kal_stream stream)
{
    kal_uintptr mode = 77;

    CHECK(kal_terminal_get_mode(stream, &mode) == kal_ok);
    return mode;
}

static inline void set(struct pair p, kal_uintptr mode)
{
    CHECK(kal_terminal_set_mode(p.stream, mode) == kal_ok);
}

/* Run each part by itself: what it changes it puts back at the end of a process. */
static inline void alone(void (*test)(void))
{
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        test();
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

#endif
