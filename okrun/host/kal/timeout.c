/* openkal.timeout: the waiting calls with a bound.                                        SPEC: TMO-1 to TMO-7 */
#define _GNU_SOURCE
#include <limits.h>
#include <openkal/timeout.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "net.h"
#include "process.h"
#include "stream.h"
#include "sys.h"

#define SECOND UINT64_C(1000000000)

/* How a stream is read or written without waiting for what another task, or another program, takes first. Whether its
 * descriptor waits is the choice of everybody who has it: it is not changed. */
struct way {
    int fd;
    int access;        /* O_RDONLY or O_WRONLY */
    bool is_socket;    /* told so at each call */
    bool told_at_call; /* also, where the system can be: of pipes since Linux 6.4, of terminals never */
    bool is_own;       /* fd is one that does not wait, of the same pipe or terminal */
    size_t room;       /* what one that waits takes without waiting when it is ready */
};

/* Find it.
 * Ensures:  false where a call never waits: of a file, and of what is closed or has no such direction. */
static bool find_way(const struct handle *handle, int access, struct way *way)
{
    struct stat node;
    int flags;

    *way = (struct way){.fd = handle->fd, .access = access, .is_socket = handle_is_socket(handle)};
    if (way->is_socket)
        return true;
    flags = fcntl(handle->fd, F_GETFL);
    if (flags < 0 || ((flags & O_ACCMODE) != O_RDWR && (flags & O_ACCMODE) != access) ||
        fstat(handle->fd, &node) != 0 || S_ISREG(node.st_mode) || S_ISDIR(node.st_mode) || S_ISBLK(node.st_mode))
        return false;
    way->is_socket = S_ISSOCK(node.st_mode);
    way->told_at_call = !way->is_socket;
    way->room = S_ISFIFO(node.st_mode) ? PIPE_BUF : 1;
    return true;
}

/* Whether a call cannot be told not to wait: then another descriptor is had, for as long as this bound lasts. Where
 * there is none to be had, the call is made when the stream is ready. */
static bool is_not_told(struct way *way)
{
    char itself[64];
    int fd;

    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return false;
    way->told_at_call = false;
    (void)snprintf(itself, sizeof itself, "/proc/self/fd/%d", way->fd);
    fd = sys_keep(open(itself, way->access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd >= 0) {
        way->fd = fd;
        way->is_own = true;
    }
    return true;
}

static void leave(const struct way *way)
{
    if (way->is_own)
        close(way->fd);
}

static ssize_t read_now(struct way *way, void *buf, size_t len)
{
    struct iovec part = {.iov_base = buf, .iov_len = len};

    if (way->is_socket)
        return recv(way->fd, buf, len, MSG_DONTWAIT);
    if (way->told_at_call) {
        ssize_t got = preadv2(way->fd, &part, 1, -1, RWF_NOWAIT);

        if (got >= 0 || !is_not_told(way))
            return got;
    }
    return read(way->fd, buf, len);
}

static ssize_t write_now(struct way *way, int socket_flags, const void *buf, size_t len)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};

    if (way->is_socket)
        return send(way->fd, buf, len, MSG_DONTWAIT | socket_flags);
    if (way->told_at_call) {
        ssize_t done = pwritev2(way->fd, &part, 1, -1, RWF_NOWAIT);

        if (done >= 0 || !is_not_told(way))
            return done;
    }
    return write(way->fd, buf, way->is_own || len < way->room ? len : way->room);
}

/* Whether a call has to be made again, which it has not when the time has passed: a stream can be ready and yet have
 * nothing for this task, as often as it is asked. */
static bool is_to_come_again(wait_end end)
{
    return errno == EINTR || (errno == EAGAIN && !wait_is_over(end));
}

static kal_intptr read_until(const struct handle *handle, struct way *way, void *buf, size_t len, wait_end end)
{
    for (;;) {
        int error = wait_for(way->fd, POLLIN, end);
        ssize_t got;

        if (error != kal_ok)
            return -error;
        got = read_now(way, buf, len);
        if (got >= 0)
            return got;
        if (!is_to_come_again(end))
            return stream_read_result(handle, -sys_error(errno));
    }
}

static kal_intptr write_until(const struct handle *handle, struct way *way, const char *from, size_t len, wait_end end)
{
    int flags = handle_is_socket(handle) ? MSG_NOSIGNAL : 0;
    size_t done = 0;

    while (done < len) {
        int error = wait_for(way->fd, POLLOUT, end);
        size_t most = len - done < SYS_MOST ? len - done : SYS_MOST;
        ssize_t n;

        if (error != kal_ok)
            return done > 0 ? (kal_intptr)done : -error;
        n = write_now(way, flags, from + done, most);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || !is_to_come_again(end))
            return done > 0 ? (kal_intptr)done : stream_result(handle, -(n == 0 ? kal_err_io : sys_error(errno)));
    }
    return (kal_intptr)done;
}

/* Ensures:  as kal_stream_read(); -kal_err_again when the time has passed and nothing came.       SPEC: TMO-1, TMO-3 */
kal_intptr kal_timeout_read(struct kal_stream stream, void *buf, kal_uintptr len, kal_u64 ns)
{
    wait_end end = wait_until(ns);
    struct handle *handle;
    struct way way;
    kal_intptr moved;

    if (end == WAIT_FOREVER || len == 0 || !sys_is_buffer(buf, len))
        return kal_stream_read(stream, buf, len);
    handle = handle_get(HANDLE_STREAM, stream.h);
    if (handle == NULL)
        return -kal_err_invalid;
    if (find_way(handle, O_RDONLY, &way)) {
        moved = read_until(handle, &way, buf, len < SYS_MOST ? len : SYS_MOST, end);
        leave(&way);
    } else {
        moved = stream_read_result(handle, sys_read(handle->fd, buf, len));
    }
    handle_put(handle);
    return moved;
}

/* Ensures:  as kal_stream_write(); what had moved when the time has passed, -kal_err_again where that is nothing.
 * SPEC: TMO-1, TMO-4 */
kal_intptr kal_timeout_write(struct kal_stream stream, const void *buf, kal_uintptr len, kal_u64 ns)
{
    wait_end end = wait_until(ns);
    struct handle *handle;
    struct way way;
    kal_intptr moved;

    if (end == WAIT_FOREVER || len == 0 || !sys_is_buffer(buf, len))
        return kal_stream_write(stream, buf, len);
    handle = handle_get(HANDLE_STREAM, stream.h);
    if (handle == NULL)
        return -kal_err_invalid;
    if (find_way(handle, O_WRONLY, &way)) {
        moved = write_until(handle, &way, buf, len, end);
        leave(&way);
    } else {
        moved = stream_result(handle, sys_write(handle->fd, false, buf, len));
    }
    handle_put(handle);
    return moved;
}

/* Ensures:  as kal_net_accept(); kal_err_again when the time has passed: no connection is lost.   SPEC: TMO-5 */
int kal_timeout_accept(struct kal_net_listener listener, kal_u64 ns, struct kal_net_conn *out)
{
    return net_accept(listener, wait_until(ns), out);
}

/* Ensures:  as kal_datagram_recv_from(); -kal_err_again when the time has passed: no datagram is lost. SPEC: TMO-5 */
kal_intptr kal_timeout_recv_from(struct kal_datagram datagram, void *buf, kal_uintptr len, struct kal_endpoint *from,
                                 kal_u64 ns)
{
    return datagram_receive(datagram, buf, len, from, wait_until(ns));
}

/* Ensures:  as kal_process_wait(); kal_err_again when the time has passed.                        SPEC: TMO-6 */
int kal_timeout_wait_process(struct kal_process process, kal_u64 ns, int *status, int *terminated)
{
    return process_wait(process, wait_until(ns), status, terminated);
}

/* Ensures:  nanoseconds, at least 1.                                                             SPEC: TMO-7 */
kal_u64 kal_timeout_granularity(void)
{
    struct timespec t;

    clock_getres(CLOCK_MONOTONIC, &t);
    return (kal_u64)t.tv_sec * SECOND + (kal_u64)t.tv_nsec;
}
