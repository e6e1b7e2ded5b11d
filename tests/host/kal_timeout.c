/* openkal.timeout of the native host: streams of each kind that can wait.                  SPEC: TMO-1 to TMO-4 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openkal/process.h>
#include <openkal/timeout.h>
#include <pthread.h>
#include <pty.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bounds.h"
#include "interrupt.h"
#include "loopback.h"

#define LARGE ((size_t)8 << 20) /* more than a pipe or a connection holds */
#define ROUNDS 25
#define TASKS 3

static char large[LARGE], got[LARGE];

/* A stream with its other end, a descriptor or a stream. */
struct kind {
    const char *name;
    struct kal_stream stream;
    int other;
    kal_uintptr owner[2]; /* of what has one */
    int fds[2];
};

/* A pipe that is read or written, a socket that this program was started with, a connection, a channel, a terminal. */
static struct kind made(const char *name, bool for_write)
{
    struct kind kind = {.name = name, .fds = {-1, -1}};
    struct kal_net_conn ends[2];
    struct kal_stream channel[2];
    struct termios raw;

    if (strcmp(name, "connection") == 0) {
        connected(ends);
        kind.owner[0] = ends[0].h, kind.owner[1] = ends[1].h;
        kind.stream = kal_net_stream(ends[0]);
        kind.other = descriptor_of(HANDLE_CONN, ends[1].h);
    } else if (strcmp(name, "channel") == 0) {
        CHECK(kal_process_channel(&channel[0], &channel[1]) == kal_ok);
        kind.owner[0] = channel[0].h, kind.owner[1] = channel[1].h;
        kind.stream = channel[0];
        kind.other = descriptor_of(HANDLE_STREAM, channel[1].h);
    } else {
        if (strcmp(name, "pipe") == 0) {
            CHECK(pipe(kind.fds) == 0);
        } else if (strcmp(name, "socket") == 0) {
            CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, kind.fds) == 0);
        } else {
            CHECK(openpty(&kind.fds[1], &kind.fds[0], NULL, NULL, NULL) == 0 && tcgetattr(kind.fds[0], &raw) == 0);
            cfmakeraw(&raw);
            CHECK(tcsetattr(kind.fds[0], TCSANOW, &raw) == 0);
        }
        if (for_write && strcmp(name, "pipe") == 0) {
            int end = kind.fds[0];

            kind.fds[0] = kind.fds[1], kind.fds[1] = end;
        }
        kind.stream = given(kind.fds[0]);
        kind.other = kind.fds[1];
    }
    return kind;
}

static void end(struct kind *kind)
{
    for (int i = 0; i < 2; i++) {
        if (kind->fds[i] >= 0)
            close(kind->fds[i]);
        if (kind->owner[i] != 0 && strcmp(kind->name, "connection") == 0)
            kal_net_close((struct kal_net_conn){kind->owner[i]});
        else if (kind->owner[i] != 0)
            kal_process_channel_close((struct kal_stream){kind->owner[i]});
    }
    kind->fds[0] = kind->fds[1] = -1;
}

static const char *const kinds[] = {"pipe", "socket", "connection", "channel", "terminal"};
#define KINDS (sizeof kinds / sizeof *kinds)

/* SPEC: TMO-1, TMO-3 */
static void a_read_expires_and_loses_nothing(const char *name, kal_u64 ns)
{
    struct kind kind = made(name, false);
    kal_u64 start = now();
    int flags = fcntl(descriptor_of(HANDLE_STREAM, kind.stream.h), F_GETFL);

    CHECK(kal_timeout_read(kind.stream, got, 8, ns) == -kal_err_again);
    CHECK(now() - start >= ns);
    CHECK(write(kind.other, "abcdef", 6) == 6);
    CHECK(kal_timeout_read(kind.stream, got, 4, 10000 * MS) == 4 && memcmp(got, "abcd", 4) == 0);
    CHECK(kal_timeout_read(kind.stream, got, 8, 10000 * MS) == 2 && memcmp(got, "ef", 2) == 0);
    CHECK(kal_timeout_read(kind.stream, got, 8, 1) == -kal_err_again);
    CHECK(write(kind.other, "g", 1) == 1);
    while (kal_timeout_read(kind.stream, got, 8, 1) != 1) /* of what is there, no bound is too short to get it */
        CHECK(strcmp(name, "terminal") == 0 || strcmp(name, "connection") == 0); /* it can take a moment to come */
    CHECK(fcntl(descriptor_of(HANDLE_STREAM, kind.stream.h), F_GETFL) == flags);
    end(&kind);
}

static void *write_late(void *fd)
{
    pause_ms(30);
    CHECK(write(*(int *)fd, "late", 4) == 4);
    return NULL;
}

/* 0 is no bound; the longest are as good as none.                                                 SPEC: TMO-2 */
static void a_long_bound_waits(const char *name, kal_u64 ns)
{
    struct kind kind = made(name, false);
    pthread_t writer;

    CHECK(pthread_create(&writer, NULL, write_late, &kind.other) == 0);
    CHECK(kal_timeout_read(kind.stream, got, 8, ns) == 4 && memcmp(got, "late", 4) == 0);
    CHECK(pthread_join(writer, NULL) == 0);
    end(&kind);
}

/* SPEC: TMO-1 */
static void nothing_to_move_waits_for_nothing(const char *name)
{
    struct kind kind = made(name, false);

    CHECK(kal_timeout_read(kind.stream, got, 0, 3600 * 1000 * MS) == 0);
    CHECK(kal_timeout_read(kind.stream, NULL, 0, 3600 * 1000 * MS) == 0);
    CHECK(kal_timeout_write(kind.stream, NULL, 0, 3600 * 1000 * MS) == 0);
    CHECK(kal_timeout_read(kind.stream, NULL, 1, MS) == -kal_err_invalid);
    CHECK(kal_timeout_write(kind.stream, NULL, 1, MS) == -kal_err_invalid);
    CHECK(kal_timeout_read(kind.stream, got, (kal_uintptr)PTRDIFF_MAX + 1, MS) == -kal_err_invalid);
    CHECK(kal_timeout_write(kind.stream, got, (kal_uintptr)-1, MS) == -kal_err_invalid);
    end(&kind);
    CHECK(kal_timeout_read((struct kal_stream){1}, got, 1, MS) == -kal_err_invalid);
    CHECK(kal_timeout_write((struct kal_stream){1}, got, 1, MS) == -kal_err_invalid);
}

/* SPEC: TMO-3 */
static void the_end_of_the_input_is_no_expiry(const char *name)
{
    struct kind kind = made(name, false);

    CHECK(write(kind.other, "x", 1) == 1);
    if (kind.owner[1] != 0)
        CHECK(shutdown(kind.other, SHUT_WR) == 0);
    else
        close(kind.fds[1]), kind.fds[1] = -1;
    CHECK(strcmp(name, "terminal") == 0 || kal_timeout_read(kind.stream, got, 8, 10000 * MS) == 1);
    CHECK(kal_timeout_read(kind.stream, got, 8, 10000 * MS) == 0);
    end(&kind);
}

struct taking {
    struct kal_stream stream;
    pthread_barrier_t *start;
    kal_intptr moved;
};

static void *take(void *argument)
{
    struct taking *taking = argument;
    char bytes[4];

    pthread_barrier_wait(taking->start);
    taking->moved = kal_timeout_read(taking->stream, bytes, sizeof bytes, 10 * MS);
    return NULL;
}

/* All are told that the stream is ready; one takes what there is, and the others have waited for nothing when their
 * time has passed. A call that waits past it ends by the alarm.                                    SPEC: TMO-3 */
static void another_task_takes_it_first(const char *name)
{
    struct kind kind = made(name, false);
    pthread_barrier_t start;

    CHECK(pthread_barrier_init(&start, NULL, TASKS + 1) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct taking taking[TASKS];
        pthread_t tasks[TASKS];
        int took = 0;

        for (int i = 0; i < TASKS; i++) {
            taking[i] = (struct taking){kind.stream, &start, 0};
            CHECK(pthread_create(&tasks[i], NULL, take, &taking[i]) == 0);
        }
        pthread_barrier_wait(&start);
        pause_ms(1);
        CHECK(write(kind.other, "x", 1) == 1);
        for (int i = 0; i < TASKS; i++) {
            CHECK(pthread_join(tasks[i], NULL) == 0);
            CHECK(taking[i].moved == 1 || taking[i].moved == -kal_err_again);
            took += taking[i].moved == 1;
        }
        while (took == 0 && kal_timeout_read(kind.stream, got, 1, 1000 * MS) == 1) /* it came too late for all */
            took++;
        CHECK(took == 1);
    }
    pthread_barrier_destroy(&start);
    end(&kind);
}

/* Read what there is at the other end.
 * Ensures:  how much; it is what was written from `at` on. */
static size_t drain(struct kind *kind, size_t at)
{
    size_t total = 0;
    ssize_t n;

    CHECK(fcntl(kind->other, F_SETFL, fcntl(kind->other, F_GETFL) | O_NONBLOCK) == 0);
    for (int idle = 0; idle < 20;) {
        n = read(kind->other, got, LARGE);
        if (n > 0) {
            CHECK(memcmp(got, large + at + total, (size_t)n) == 0);
            total += (size_t)n;
        } else {
            CHECK(n < 0 && errno == EAGAIN);
            pause_ms(2);
            idle++;
        }
    }
    CHECK(fcntl(kind->other, F_SETFL, fcntl(kind->other, F_GETFL) & ~O_NONBLOCK) == 0);
    return total;
}

/* SPEC: TMO-1, TMO-4 */
static void a_write_expires_and_says_how_far_it_came(const char *name, bool stormy)
{
    struct kind kind = made(name, true);
    kal_u64 start = now();
    kal_intptr moved, more;

    if (stormy)
        interrupt(true);
    moved = kal_timeout_write(kind.stream, large, LARGE, 50 * MS);
    CHECK(now() - start >= 50 * MS);
    if (stormy)
        interrupt(false);
    CHECK(moved > 0 && moved < (kal_intptr)LARGE);
    do /* the system makes room as what was sent moves on */
        more = kal_timeout_write(kind.stream, large + moved, LARGE - (size_t)moved, 10 * MS);
    while (more > 0 && (moved += more) < (kal_intptr)LARGE);
    CHECK(more == -kal_err_again);
    CHECK(drain(&kind, 0) == (size_t)moved); /* what was said, and not a byte more */
    CHECK(kal_timeout_write(kind.stream, large + moved, 100, 10000 * MS) == 100);
    CHECK(drain(&kind, (size_t)moved) == 100);
    end(&kind);
}

static void *read_all(void *argument)
{
    struct kind *kind = argument;
    size_t total = 0;

    while (total < LARGE) {
        ssize_t n = read(kind->other, got + total, LARGE - total);

        CHECK(n > 0 || (n < 0 && errno == EINTR));
        total += n > 0 ? (size_t)n : 0;
    }
    return NULL;
}

/* SPEC: TMO-4 */
static void a_write_within_its_bound_is_whole(const char *name)
{
    struct kind kind = made(name, true);
    pthread_t reader;

    memset(got, 0, LARGE);
    CHECK(pthread_create(&reader, NULL, read_all, &kind) == 0);
    interrupt(true);
    CHECK(kal_timeout_write(kind.stream, large, LARGE, 3600 * 1000 * MS) == (kal_intptr)LARGE);
    CHECK(pthread_join(reader, NULL) == 0);
    interrupt(false);
    CHECK(memcmp(got, large, LARGE) == 0);
    end(&kind);
}

static void *give(void *argument)
{
    struct taking *giving = argument;
    static char page[4096];

    pthread_barrier_wait(giving->start);
    giving->moved = kal_timeout_write(giving->stream, page, sizeof page, 10 * MS);
    return NULL;
}

/* There is room for one of them.                                                                   SPEC: TMO-4 */
static void another_task_fills_it_first(const char *name)
{
    struct kind kind = made(name, true);
    pthread_barrier_t start;

    CHECK(pthread_barrier_init(&start, NULL, TASKS + 1) == 0);
    while (kal_timeout_write(kind.stream, large, LARGE, MS) > 0)
        ;
    for (int round = 0; round < ROUNDS; round++) {
        struct taking giving[TASKS];
        pthread_t tasks[TASKS];

        for (int i = 0; i < TASKS; i++) {
            giving[i] = (struct taking){kind.stream, &start, 0};
            CHECK(pthread_create(&tasks[i], NULL, give, &giving[i]) == 0);
        }
        pthread_barrier_wait(&start);
        pause_ms(1);
        CHECK(read(kind.other, got, 4096) > 0);
        for (int i = 0; i < TASKS; i++) {
            CHECK(pthread_join(tasks[i], NULL) == 0);
            CHECK((giving[i].moved > 0 && giving[i].moved <= 4096) || giving[i].moved == -kal_err_again);
        }
    }
    pthread_barrier_destroy(&start);
    end(&kind);
}

/* SPEC: TMO-3, TMO-4 */
static void without_a_descriptor_it_works_alone(const char *name)
{
    struct kind in = made(name, false), out = made(name, true);
    struct rlimit limit, none;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit, none.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(kal_timeout_read(in.stream, got, 8, MS) == -kal_err_again);
    CHECK(write(in.other, "x", 1) == 1);
    CHECK(kal_timeout_read(in.stream, got, 8, 10000 * MS) == 1);
    while (kal_timeout_write(out.stream, large, LARGE, 5 * MS) > 0)
        ;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    end(&in);
    end(&out);
}

static int open_descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    int count = 0;

    CHECK(list != NULL);
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

static void of_each_kind(const char *name)
{
    int before = open_descriptors();

    a_read_expires_and_loses_nothing(name, 20 * MS);
    interrupt(true);
    a_read_expires_and_loses_nothing(name, 20 * MS); /* interrupted each millisecond, it would never end anew */
    interrupt(false);
    a_long_bound_waits(name, 0);
    a_long_bound_waits(name, UINT64_MAX);
    a_long_bound_waits(name, INT64_MAX);
    a_long_bound_waits(name, (kal_u64)1 << 63);
    nothing_to_move_waits_for_nothing(name);
    the_end_of_the_input_is_no_expiry(name);
    another_task_takes_it_first(name);
    a_write_expires_and_says_how_far_it_came(name, false);
    a_write_expires_and_says_how_far_it_came(name, true);
    a_write_within_its_bound_is_whole(name);
    another_task_fills_it_first(name);
    without_a_descriptor_it_works_alone(name);
    CHECK(open_descriptors() == before); /* none is left of those that did not wait */
}

int main(void)
{
    alarm(240); /* what waits for good is a failure */
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7 + i / 251);
    for (size_t i = 0; i < KINDS; i++)
        of_each_kind(kinds[i]);
    return 0;
}
