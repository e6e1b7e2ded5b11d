/* openkal.stream: bytes in and out. Nothing is held back here, so that what was written is with the system. */
#include <openkal/stream.h>
#include <unistd.h>

#include "handle.h"
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

/* Ensures:  as sys_write(); -kal_err_invalid for a word that is no stream and for what cannot be a buffer.
 * SPEC: KAL-1, KAL-2 */
kal_intptr kal_stream_write(struct kal_stream stream, const void *buf, kal_uintptr len)
{
    int fd = handle_descriptor(HANDLE_STREAM, stream.h);

    if (fd < 0 || !sys_is_buffer(buf, len))
        return -kal_err_invalid;
    return sys_write(fd, buf, len);
}

/* Ensures:  as sys_read(); -kal_err_invalid as above.             SPEC: KAL-1, KAL-2 */
kal_intptr kal_stream_read(struct kal_stream stream, void *buf, kal_uintptr len)
{
    int fd = handle_descriptor(HANDLE_STREAM, stream.h);

    if (fd < 0 || !sys_is_buffer(buf, len))
        return -kal_err_invalid;
    return sys_read(fd, buf, len);
}

int kal_stream_flush(struct kal_stream stream)
{
    return handle_descriptor(HANDLE_STREAM, stream.h) < 0 ? kal_err_invalid : kal_ok;
}

kal_uintptr kal_stream_props(struct kal_stream stream)
{
    int fd = handle_descriptor(HANDLE_STREAM, stream.h);

    return fd >= 0 && isatty(fd) ? KAL_STREAM_PROP_INTERACTIVE : 0;
}
