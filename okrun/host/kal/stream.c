/* openkal.stream: bytes in and out. Nothing is held back here, so that what was written is with the system. */
#include <openkal/stream.h>
#include <stdbool.h>
#include <unistd.h>

#include "stream.h"
#include "sys.h"

struct kal_stream kal_stdin(void)
{
    return (struct kal_stream){handle_standard(STDIN_FILENO)};
}

struct kal_stream kal_stdout(void)
{
    return (struct kal_stream){handle_standard(STDOUT_FILENO)};
}

struct kal_stream kal_stderr(void)
{
    return (struct kal_stream){handle_standard(STDERR_FILENO)};
}

/* What a connection says, once, when nothing came back from the other end any more. The next read then says the end of
 * the input, which it is not. */
static bool is_loss(const struct handle *handle, int number)
{
    return handle->kind == HANDLE_CONN && (number == ETIMEDOUT || number == EHOSTUNREACH || number == ENETUNREACH);
}

/* A file that was opened for the other direction says EBADF, as a standard stream does that was never open. */
kal_intptr stream_result(const struct handle *handle, kal_intptr moved)
{
    bool is_standard = handle->fd <= STDERR_FILENO;

    if (moved < 0 && is_loss(handle, errno))
        return -kal_err_closed;
    return moved == -kal_err_closed && errno == EBADF && !is_standard ? -kal_err_permission : moved;
}

/* Of two ends of a channel, or of a socket of its kind that this program was started with, the one that closes with
 * bytes unread has the other's next read reset: all that was sent before is read by then. */
kal_intptr stream_read_result(const struct handle *handle, kal_intptr moved)
{
    int domain;
    socklen_t size = sizeof domain;

    if (moved == -kal_err_closed && errno == ECONNRESET &&
        getsockopt(handle->fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX)
        return 0;
    return stream_result(handle, moved);
}

/* Ensures:  as sys_write(); -kal_err_invalid for a word that is no stream and for what cannot be a buffer.
 * SPEC: KAL-1, KAL-2 */
kal_intptr kal_stream_write(struct kal_stream stream, const void *buf, kal_uintptr len)
{
    struct handle *handle = handle_get(HANDLE_STREAM, stream.h);
    kal_intptr moved;

    if (handle == NULL)
        return -kal_err_invalid;
    moved = -kal_err_invalid;
    if (sys_is_buffer(buf, len))
        moved = stream_result(handle, sys_write(handle->fd, handle_is_socket(handle), buf, len));
    handle_put(handle);
    return moved;
}

/* Ensures:  as sys_read(); -kal_err_invalid as above.             SPEC: KAL-1, KAL-2 */
kal_intptr kal_stream_read(struct kal_stream stream, void *buf, kal_uintptr len)
{
    struct handle *handle = handle_get(HANDLE_STREAM, stream.h);
    kal_intptr moved;

    if (handle == NULL)
        return -kal_err_invalid;
    moved = -kal_err_invalid;
    if (sys_is_buffer(buf, len))
        moved = stream_read_result(handle, sys_read(handle->fd, buf, len));
    handle_put(handle);
    return moved;
}

int kal_stream_flush(struct kal_stream stream)
{
    struct handle *handle = handle_get(HANDLE_STREAM, stream.h);

    if (handle == NULL)
        return kal_err_invalid;
    handle_put(handle);
    return kal_ok;
}

kal_uintptr kal_stream_props(struct kal_stream stream)
{
    struct handle *handle = handle_get(HANDLE_STREAM, stream.h);
    kal_uintptr props;

    if (handle == NULL)
        return 0;
    props = isatty(handle->fd) ? KAL_STREAM_PROP_INTERACTIVE : 0;
    handle_put(handle);
    return props;
}
