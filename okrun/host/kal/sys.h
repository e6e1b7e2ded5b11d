/* The one gate from kal/ to the system: what Linux answers, in openkal's words. */
#ifndef OKHOST_KAL_SYS_H
#define OKHOST_KAL_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <openkal/types.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Linux moves less than 2 GiB a call; a whole number of pages keeps what follows aligned. */
#define SYS_MOST ((size_t)1 << 30)

/* The error that stands for an errno value: the whole table.       SPEC: KAL-9 */
static inline int sys_error(int number)
{
    switch (number) {
    case EINVAL:
    case EFAULT:
    case ENAMETOOLONG:
    case EDOM:
    case ERANGE:
    case E2BIG:
    case EDESTADDRREQ:
    case EMSGSIZE:
    case ENOTSOCK:
    case ENOTTY:
    case EOVERFLOW:
        return kal_err_invalid;
    case EAGAIN:
    case EBUSY:
    case EDEADLK:
    case EINPROGRESS:
    case EALREADY:
    case ETIMEDOUT:
    case ETXTBSY:
        return kal_err_again;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
        return kal_err_no_memory;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMLINK:
        return kal_err_no_space;
    case EACCES:
    case EPERM:
    case EROFS:
        return kal_err_permission;
    case ENOSYS:
    case EOPNOTSUPP:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ENODEV:
    case ENXIO:
    case EXDEV:
    case ENOLCK:
    case ENOEXEC:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case ESPIPE:
        return kal_err_not_supported;
    case EPIPE:
    case EBADF: /* a standard stream that this program was started without */
    case ECONNRESET:
    case ECONNABORTED:
    case ECONNREFUSED:
    case ENOTCONN:
    case ESHUTDOWN:
    case ENETRESET:
        return kal_err_closed;
    case ENOENT:
    case ESRCH:
    case ECHILD:
    case ELOOP:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return kal_err_not_found;
    case EEXIST:
    case EADDRINUSE:
    case EISCONN:
        return kal_err_exists;
    case ENOTEMPTY:
        return kal_err_not_empty;
    case EISDIR:
        return kal_err_is_directory;
    case ENOTDIR:
        return kal_err_not_directory;
    default:
        return kal_err_io;
    }
}

/* Call again while a signal interrupts: error becomes kal_ok where the call gives 0, else what stands for its errno. */
#define SYS_RETRY(error, call)                                                                                         \
    do {                                                                                                               \
        (error) = (call) == 0 ? kal_ok : errno == EINTR ? -1 : sys_error(errno);                                       \
    } while ((error) < 0)

/* Whether buf can be a buffer of len bytes: nothing is null, and no object is larger than half the address space. */
static inline int sys_is_buffer(const void *buf, kal_uintptr len)
{
    return (buf || len == 0) && len <= (kal_uintptr)PTRDIFF_MAX;
}

/* Write the whole buffer.
 * Requires: sys_is_buffer(buf, len). A socket's lost other end is an error, and no signal.
 * Ensures:  len; or, where an error came, how much was moved before it; or the negated error where nothing was. Once a
 *           part has moved, a descriptor that would block is waited for: whoever set O_NONBLOCK on a shared pipe was
 *           not this program, which has no way to wait.             SPEC: KAL-2 */
static inline kal_intptr sys_write(int fd, bool is_socket, const void *buf, kal_uintptr len)
{
    const char *from = buf;
    size_t done = 0;

    while (done < len) {
        size_t most = len - done < SYS_MOST ? len - done : SYS_MOST;
        ssize_t n = is_socket ? send(fd, from + done, most, MSG_NOSIGNAL) : write(fd, from + done, most);

        if (n > 0) {
            done += (size_t)n;
        } else if (n < 0 && errno == EAGAIN && done > 0) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};

            (void)poll(&room, 1, -1);
        } else if (n == 0 || errno != EINTR) {
            return done > 0 ? (kal_intptr)done : -(n == 0 ? kal_err_io : sys_error(errno));
        }
    }
    return (kal_intptr)done;
}

/* Read what there is, once.
 * Requires: sys_is_buffer(buf, len).
 * Ensures:  how much was moved, 0 at the end of the input or for len 0; else the negated error. SPEC: KAL-2 */
static inline kal_intptr sys_read(int fd, void *buf, kal_uintptr len)
{
    ssize_t n;

    do {
        n = read(fd, buf, len < SYS_MOST ? len : SYS_MOST);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -sys_error(errno) : n;
}

/* A descriptor above those of the standard streams, whichever of them are closed: fd itself, or its copy.
 * Ensures:  -1 and errno where fd is -1 or there is no other; fd is closed then.                SPEC: RUN-8 */
static inline int sys_keep(int fd)
{
    int kept, error;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    error = errno;
    close(fd);
    errno = error;
    return kept;
}

/* Give text to a caller who has room for cap bytes of it.
 * Ensures:  the length that the text has, however much was copied; -kal_err_invalid where out cannot be a buffer. */
static inline kal_intptr sys_copy_out(const char *text, size_t length, char *out, kal_uintptr cap)
{
    size_t n = length < cap ? length : cap;

    if (!sys_is_buffer(out, cap))
        return -kal_err_invalid;
    if (n > 0)
        memcpy(out, text, n);
    return (kal_intptr)length;
}

#endif
