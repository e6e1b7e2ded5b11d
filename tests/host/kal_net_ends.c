/* openkal.net of the native host: what becomes of connections.                         SPEC: NET-6 to NET-8, KAL-2 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <unistd.h>

#include "interrupt.h"
#include "loopback.h"

#define LARGE ((size_t)16 << 20) /* more than the buffers of a connection hold */

static char large[LARGE];

/* SPEC: NET-6, KAL-2 */
static void a_peer_closes_in_the_middle_of_a_read(void)
{
    struct kal_net_conn ends[2];
    char got[16];

    connected(ends);
    CHECK(kal_stream_write(stream_of(ends[1]), "0123456789", 10) == 10);
    kal_net_close(ends[1]);
    CHECK(kal_stream_read(stream_of(ends[0]), got, 4) == 4);
    CHECK(kal_stream_read(stream_of(ends[0]), got, 16) == 6 && memcmp(got, "456789", 6) == 0);
    CHECK(kal_stream_read(stream_of(ends[0]), got, 16) == 0 && kal_stream_read(stream_of(ends[0]), got, 16) == 0);
    kal_net_close(ends[0]);

    connected(ends);
    break_off(ends[1]);
    CHECK(kal_stream_read(stream_of(ends[0]), got, 16) == -kal_err_closed);
    kal_net_close(ends[0]);
}

static void *read_some_and_close(void *conn)
{
    static char some[4096];

    CHECK(kal_stream_read(stream_of(*(struct kal_net_conn *)conn), some, sizeof some) > 0);
    pause_ms(20);
    kal_net_close(*(struct kal_net_conn *)conn);
    return NULL;
}

/* SIGPIPE has its default action: it would end this test.                                         SPEC: NET-6, KAL-2 */
static void a_peer_closes_in_the_middle_of_a_write(void)
{
    struct kal_net_conn ends[2];
    pthread_t reader;
    kal_intptr moved;

    connected(ends);
    CHECK(pthread_create(&reader, NULL, read_some_and_close, &ends[1]) == 0);
    interrupt(true);
    moved = kal_stream_write(stream_of(ends[0]), large, LARGE);
    interrupt(false);
    CHECK(moved > 0 && moved < (kal_intptr)LARGE); /* what had moved before */
    CHECK(pthread_join(reader, NULL) == 0);
    CHECK(kal_stream_write(stream_of(ends[0]), large, 1) == -kal_err_closed);
    CHECK(kal_stream_write(stream_of(ends[0]), large, 1) == -kal_err_closed);
    kal_net_close(ends[0]);
}

/* SPEC: NET-6 */
static void a_peer_that_answers_no_more_is_no_end_of_input(void)
{
    struct kal_net_conn ends[2];
    unsigned bound = 50;
    char byte;
    int fd;

    connected(ends);
    fd = descriptor_of(HANDLE_CONN, ends[0].h);
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &bound, sizeof bound) == 0);
    while (send(fd, large, LARGE, MSG_DONTWAIT) > 0) /* until there is no room at the other end */
        ;
    CHECK(kal_stream_read(stream_of(ends[0]), &byte, 1) == -kal_err_closed);
    kal_net_close(ends[0]);
    kal_net_close(ends[1]);
}

/* SPEC: NET-7 */
static void each_direction_closes_by_itself(void)
{
    struct kal_net_conn ends[2];
    struct kal_stream near, far;
    char got[4];

    connected(ends);
    near = stream_of(ends[0]), far = stream_of(ends[1]);
    for (int direction = -1; direction < 6; direction++) {
        if (direction < KAL_SHUT_READ || direction > KAL_SHUT_BOTH)
            CHECK(kal_net_shutdown(ends[0], direction) == kal_err_invalid);
    }
    CHECK(kal_stream_write(near, "last", 4) == 4);
    CHECK(kal_net_shutdown(ends[0], KAL_SHUT_WRITE) == kal_ok && kal_net_shutdown(ends[0], KAL_SHUT_WRITE) == kal_ok);
    CHECK(kal_stream_write(near, "x", 1) == -kal_err_closed);
    CHECK(kal_stream_read(far, got, 4) == 4 && kal_stream_read(far, got, 4) == 0);
    CHECK(kal_stream_write(far, "back", 4) == 4 && kal_stream_read(near, got, 4) == 4);
    CHECK(memcmp(got, "back", 4) == 0);

    CHECK(kal_stream_write(far, "more", 4) == 4);
    CHECK(kal_net_shutdown(ends[0], KAL_SHUT_READ) == kal_ok);
    CHECK(kal_stream_read(near, got, 4) == 4 && kal_stream_read(near, got, 4) == 0); /* what had come, then the end */
    kal_net_close(ends[0]);
    kal_net_close(ends[1]);

    connected(ends);
    near = stream_of(ends[0]), far = stream_of(ends[1]);
    CHECK(kal_net_shutdown(ends[0], KAL_SHUT_READ) == kal_ok && kal_stream_read(near, got, 4) == 0);
    CHECK(kal_stream_write(near, "on", 2) == 2 && kal_stream_read(far, got, 4) == 2);
    CHECK(kal_net_shutdown(ends[0], KAL_SHUT_BOTH) == kal_ok);
    CHECK(kal_stream_read(near, got, 4) == 0 && kal_stream_write(near, "x", 1) == -kal_err_closed);
    CHECK(kal_stream_read(far, got, 4) == 0);
    kal_net_close(ends[0]);
    kal_net_close(ends[1]);
}

static void *read_to_the_end(void *stream)
{
    char byte;

    CHECK(kal_stream_read(*(struct kal_stream *)stream, &byte, 1) == 0);
    return NULL;
}

static void *write_to_the_end(void *stream)
{
    kal_intptr moved = kal_stream_write(*(struct kal_stream *)stream, large, LARGE);

    CHECK(moved == -kal_err_closed || (moved > 0 && moved < (kal_intptr)LARGE));
    return NULL;
}

static void *accept_to_the_end(void *listener)
{
    struct kal_net_conn conn;

    CHECK(kal_net_accept(*(struct kal_net_listener *)listener, &conn) == kal_err_closed);
    return NULL;
}

/* SPEC: NET-8 */
static void a_close_ends_what_waits(void *(*wait)(void *))
{
    static char drained[65536];
    struct kal_net_conn ends[2];
    struct kal_stream stream;
    pthread_t waiter;
    kal_intptr got;

    connected(ends);
    stream = stream_of(ends[0]);
    CHECK(pthread_create(&waiter, NULL, wait, &stream) == 0);
    await_use(HANDLE_CONN, ends[0].h);
    kal_net_close(ends[0]);
    CHECK(pthread_join(waiter, NULL) == 0);
    while ((got = kal_stream_read(stream_of(ends[1]), drained, sizeof drained)) > 0)
        ;
    CHECK(got == 0); /* the other end sees it */
    kal_net_close(ends[1]);
}

/* SPEC: NET-8 */
static void a_close_ends_an_accept(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener = listening(&at), word = listener;
    struct kal_net_conn conn;
    pthread_t waiter;

    CHECK(pthread_create(&waiter, NULL, accept_to_the_end, &word) == 0);
    await_use(HANDLE_LISTENER, listener.h);
    kal_net_close_listener(listener);
    CHECK(pthread_join(waiter, NULL) == 0);
    CHECK(kal_net_connect(&at, &conn) == kal_err_closed);
}

/* SPEC: NET-8 */
static void a_close_is_of_this_programs_end_alone(void)
{
    struct kal_net_conn ends[2];
    char byte;
    int others;

    connected(ends);
    others = dup(descriptor_of(HANDLE_CONN, ends[0].h)); /* as a program has it that was started with the stream */
    kal_net_close(ends[0]);
    CHECK(write(others, "y", 1) == 1 && kal_stream_read(stream_of(ends[1]), &byte, 1) == 1 && byte == 'y');
    CHECK(kal_stream_write(stream_of(ends[1]), "z", 1) == 1 && read(others, &byte, 1) == 1 && byte == 'z');
    close(others);
    kal_net_close(ends[1]);
}

/* SPEC: RUN-8, NET-6 */
static void descriptors_are_nobodys_else(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener;
    struct kal_net_conn ends[2];
    int fds[3], on, before = dup(STDIN_FILENO);
    socklen_t length = sizeof on;

    close(STDIN_FILENO);
    listener = listening(&at);
    CHECK(kal_net_connect(&at, &ends[0]) == kal_ok && kal_net_accept(listener, &ends[1]) == kal_ok);
    fds[0] = descriptor_of(HANDLE_LISTENER, listener.h);
    fds[1] = descriptor_of(HANDLE_CONN, ends[0].h);
    fds[2] = descriptor_of(HANDLE_CONN, ends[1].h);
    for (int i = 0; i < 3; i++)
        CHECK(fds[i] > 2 && (fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0);
    for (int i = 1; i < 3; i++) {
        CHECK((fcntl(fds[i], F_GETFL) & O_NONBLOCK) == 0);
        CHECK(getsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, &length) == 0 && on);
    }
    CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1 && errno == EBADF);
    CHECK(dup2(before, STDIN_FILENO) == STDIN_FILENO);
    close(before);
    kal_net_close(ends[0]);
    kal_net_close(ends[1]);
    kal_net_close_listener(listener);
}

int main(void)
{
    alarm(120); /* what waits for good is a failure */
    a_peer_closes_in_the_middle_of_a_read();
    a_peer_closes_in_the_middle_of_a_write();
    a_peer_that_answers_no_more_is_no_end_of_input();
    each_direction_closes_by_itself();
    a_close_ends_what_waits(read_to_the_end);
    a_close_ends_what_waits(write_to_the_end);
    a_close_ends_an_accept();
    a_close_is_of_this_programs_end_alone();
    descriptors_are_nobodys_else();
    return 0;
}
