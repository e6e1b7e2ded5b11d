/* The loops of the bench "surface" through libc. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "surface.h"

static char bytes[PAGE];
static int fd, near_end, far_end;
static int turn;

static count now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (count)t.tv_sec * 1000000000 + (count)t.tv_nsec;
}

static void need(int fact)
{
    if (!fact)
        exit(1);
}

static void say(const char *line, count size)
{
    need(write(STDOUT_FILENO, line, size) == (ssize_t)size);
}

static void open_zero(void)
{
    fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    need(fd >= 0);
}

static void open_null(void)
{
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    need(fd >= 0);
}

static void open_file(void)
{
    fd = open("file", O_RDONLY | O_CLOEXEC);
    need(fd >= 0);
}

static void read_bytes(count calls, size_t size)
{
    while (calls-- > 0)
        need(read(fd, bytes, size) == (ssize_t)size);
}

static void write_bytes(count calls, size_t size)
{
    while (calls-- > 0)
        need(write(fd, bytes, size) == (ssize_t)size);
}

static void read_byte(count calls)
{
    read_bytes(calls, 1);
}

static void read_page(count calls)
{
    read_bytes(calls, PAGE);
}

static void write_byte(count calls)
{
    write_bytes(calls, 1);
}

static void write_page(count calls)
{
    write_bytes(calls, PAGE);
}

static void stat_name(count calls)
{
    struct stat node;

    while (calls-- > 0)
        need(stat("file", &node) == 0 && node.st_size == PAGE);
}

static void open_close(count calls)
{
    while (calls-- > 0) {
        int opened = open("file", O_RDONLY | O_CLOEXEC);

        need(opened >= 0 && close(opened) == 0);
    }
}

/* What a mapping costs depends on how many there are: the kernel splits or joins nodes of its tree of them now and then.
 * Each batch leaves one more, so that some meet no such number. */
static void map_unmap(count calls)
{
    need(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
    while (calls-- > 0) {
        void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

        need(p != MAP_FAILED && munmap(p, PAGE) == 0);
    }
}

static void spawn(count calls)
{
    char *argv[] = {"true", NULL}, *envp[] = {NULL};

    while (calls-- > 0) {
        int status;
        pid_t pid;

        need(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp) == 0);
        need(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

static void pass_to(int who)
{
    __atomic_store_n(&turn, who, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for(int who)
{
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != who)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - who, NULL, NULL, 0);
}

static void *hand_back(void *unused)
{
    for (;;) {
        wait_for(1);
        pass_to(0);
    }
    return unused;
}

static void begin_handoff(void)
{
    pthread_t thread;

    need(pthread_create(&thread, NULL, hand_back, NULL) == 0);
}

static void handoff(count calls)
{
    for (; calls > 0; calls -= calls > 1 ? 2 : 1) {
        pass_to(1);
        wait_for(0);
    }
}

static void *echo_back(void *unused)
{
    char byte;

    while (read(far_end, &byte, 1) == 1)
        need(write(far_end, &byte, 1) == 1);
    return unused;
}

static void begin_echo(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t thread;

    need(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0);
    need(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    near_end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(connect(near_end, (struct sockaddr *)&address, size) == 0);
    far_end = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    need(setsockopt(near_end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    need(setsockopt(far_end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    need(pthread_create(&thread, NULL, echo_back, NULL) == 0);
}

static void echo(count calls)
{
    char byte = 'x';

    while (calls-- > 0)
        need(write(near_end, &byte, 1) == 1 && read(near_end, &byte, 1) == 1);
}

int main(int argc, char **argv)
{
    static const struct loop loops[] = {
        {"read-1", open_zero, read_byte},
        {"read-4096", open_zero, read_page},
        {"write-1", open_null, write_byte},
        {"write-4096", open_null, write_page},
        {"stat", NULL, stat_name},
        {"open", NULL, open_close},
        {"map", open_file, map_unmap},
        {"spawn", NULL, spawn},
        {"handoff", begin_handoff, handoff},
        {"echo", begin_echo, echo},
    };

    return measure(loops, argc, argv);
}
