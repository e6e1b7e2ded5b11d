/* openkal.timeout of the native host: files and lost peers, accept, receive, wait.         SPEC: TMO-1 to TMO-7 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <openkal/process.h>
#include <openkal/timeout.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bounds.h"
#include "interrupt.h"
#include "kal/child.h"
#include "loopback.h"

#define LARGE ((size_t)8 << 20)

static char large[LARGE], got[LARGE];

/* SPEC: TMO-3, TMO-4 */
static void a_lost_peer_is_said_at_once(void)
{
    struct kal_net_conn ends[2];
    struct kal_stream channel[2];

    connected(ends);
    break_off(ends[1]);
    CHECK(kal_timeout_read(kal_net_stream(ends[0]), got, 8, 10000 * MS) == -kal_err_closed);
    CHECK(kal_timeout_write(kal_net_stream(ends[0]), "x", 1, 10000 * MS) == -kal_err_closed); /* and no SIGPIPE */
    kal_net_close(ends[0]);
    CHECK(kal_process_channel(&channel[0], &channel[1]) == kal_ok);
    kal_process_channel_close(channel[1]);
    CHECK(kal_timeout_read(channel[0], got, 8, 10000 * MS) == 0);
    CHECK(kal_timeout_write(channel[0], "x", 1, 10000 * MS) == -kal_err_closed);
    kal_process_channel_close(channel[0]);
}

/* SPEC: TMO-3, TMO-4 */
static void files_never_wait(void)
{
    int fd = memfd_create("file", 0), directory = open("/", O_RDONLY), pipes[2];
    struct kal_stream stream = given(fd);
    char path[32];

    CHECK(kal_timeout_write(stream, large, LARGE, 1) == (kal_intptr)LARGE && lseek(fd, 0, SEEK_SET) == 0);
    CHECK(kal_timeout_read(stream, got, LARGE, 1) == (kal_intptr)LARGE && memcmp(got, large, LARGE) == 0);
    CHECK(kal_timeout_read(stream, got, LARGE, 1) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(kal_timeout_write(given(open(path, O_RDONLY)), "x", 1, MS) == -kal_err_permission);
    CHECK(kal_timeout_read(given(open(path, O_WRONLY)), got, 1, MS) == -kal_err_permission);
    CHECK(kal_timeout_read(given(directory), got, 1, MS) == -kal_err_is_directory);

    /* The end of a pipe that is written is not read, though the system would give its other end by the same name. */
    CHECK(pipe(pipes) == 0 && write(pipes[1], "own", 3) == 3);
    CHECK(kal_timeout_read(given(pipes[1]), got, 3, 10000 * MS) == -kal_err_permission);
    CHECK(kal_timeout_write(given(pipes[0]), "x", 1, 10000 * MS) == -kal_err_permission);
    CHECK(kal_timeout_read(given(open("/dev/null", O_RDWR)), got, 3, 1) == 0);
    CHECK(kal_timeout_write(given(open("/dev/null", O_RDWR)), got, LARGE, 10000 * MS) == (kal_intptr)LARGE);
    CHECK(kal_timeout_read(given(open("/dev/zero", O_RDWR)), got, 3, 10000 * MS) == 3);
}

/* SPEC: TMO-5 */
static void an_accept_and_a_receive_expire_and_lose_nothing(void)
{
    struct kal_endpoint at = v4(0), port = v4(0), from = {.port = 77};
    struct kal_net_listener listener = listening(&at);
    struct kal_net_conn conn = {77}, other;
    struct kal_datagram datagram;
    kal_u64 start = now();

    CHECK(kal_datagram_open(&port, &datagram) == kal_ok && kal_datagram_local(datagram, &port) == kal_ok);
    interrupt(true);
    CHECK(kal_timeout_accept(listener, 30 * MS, &conn) == kal_err_again && conn.h == 77);
    CHECK(kal_timeout_recv_from(datagram, got, 8, &from, 30 * MS) == -kal_err_again && from.port == 77);
    CHECK(now() - start >= 60 * MS);
    interrupt(false);
    CHECK(kal_net_connect(&at, &other) == kal_ok && kal_timeout_accept(listener, 1, &conn) == kal_ok);
    kal_net_close(conn);
    kal_net_close(other);
    for (kal_u64 ns = UINT64_MAX; ns != 0; ns >>= 32) {
        CHECK(kal_net_connect(&at, &other) == kal_ok && kal_timeout_accept(listener, ns, &conn) == kal_ok);
        kal_net_close(conn);
        kal_net_close(other);
        CHECK(kal_datagram_send_to(datagram, "abc", 3, &port) == 3);
        CHECK(kal_timeout_recv_from(datagram, got, 8, &from, ns) == 3 && memcmp(&from, &port, sizeof port) == 0);
    }
    CHECK(kal_datagram_send_to(datagram, "", 0, &port) == 0);
    CHECK(kal_timeout_recv_from(datagram, NULL, 0, NULL, 0) == 0);
    CHECK(kal_timeout_recv_from(datagram, NULL, 0, NULL, MS) == -kal_err_again); /* one of no bytes has to come, too */
    CHECK(kal_timeout_accept(listener, MS, NULL) == kal_err_invalid);
    CHECK(kal_timeout_accept((struct kal_net_listener){datagram.h}, MS, &conn) == kal_err_invalid);
    CHECK(kal_timeout_recv_from(datagram, NULL, 1, &from, MS) == -kal_err_invalid);
    CHECK(kal_timeout_recv_from((struct kal_datagram){listener.h}, got, 1, &from, MS) == -kal_err_invalid);
    kal_datagram_close(datagram);
    kal_net_close_listener(listener);
}

/* SPEC: TMO-6 */
static void a_program_is_waited_for(bool with_pidfd, bool killed)
{
    int gate[2], status = 77, terminated = 77;
    struct kal_process process;
    struct child *child;
    kal_u64 start = now();
    pid_t pid;

    CHECK(pipe(gate) == 0 && (pid = fork()) >= 0);
    if (pid == 0) {
        close(gate[1]);
        while (read(gate[0], &status, 1) < 0)
            ;
        if (killed)
            raise(SIGKILL);
        _exit(33);
    }
    close(gate[0]);
    child = child_keep(pid);
    CHECK(child != NULL && child_issue(child, &process) == kal_ok);
    if (!with_pidfd && child->pidfd >= 0) {
        close(child->pidfd);
        child->pidfd = -1;
    }
    interrupt(true);
    CHECK(kal_timeout_wait_process(process, 30 * MS, &status, &terminated) == kal_err_again);
    CHECK(now() - start >= 30 * MS && status == 77 && terminated == 77);
    close(gate[1]);
    CHECK(kal_timeout_wait_process(process, 3600 * 1000 * MS, &status, &terminated) == kal_ok);
    interrupt(false);
    CHECK(status == (killed ? SIGKILL : 33) && terminated == killed);
    CHECK(kal_timeout_wait_process(process, 1, NULL, NULL) == kal_ok); /* as often as it is asked */
    CHECK(kal_timeout_wait_process(process, 0, &status, NULL) == kal_ok);
    kal_process_close(process);
    CHECK(kal_timeout_wait_process(process, 1, &status, &terminated) == kal_err_invalid);
}

int main(void)
{
    alarm(120); /* what waits for good is a failure */
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7 + i / 251);
    a_lost_peer_is_said_at_once();
    files_never_wait();
    an_accept_and_a_receive_expire_and_lose_nothing();
    for (int i = 0; i < 4; i++)
        a_program_is_waited_for(i & 1, i & 2);
    CHECK(kal_timeout_granularity() > 0 && kal_timeout_granularity() <= MS);
    return 0;
}
