/* The one gate from kal/ to the system: what Linux answers, in openkal's words. */
#ifndef OKHOST_KAL_SYS_H
#define OKHOST_KAL_SYS_H

#include <errno.h>
#include <openkal/types.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Linux moves less than 2 GiB a call; a whole number of pages keeps what follows aligned. */
#define SYS_MOST ((size_t)1 << 30)

/* The error that stands for an errno value.                        SPEC: KAL-2 */
static inline int sys_error(int number)
{
    switch (number) {
    case EPIPE:
    case EBADF:
        return kal_err_closed;
    case EAGAIN:
        return kal_err_again;
    case ENOSPC:
    case EDQUOT:
        return kal_err_no_space;
    case EFAULT:
        return kal_err_invalid;
    default:
        return kal_err_io;
    }
}

/* Whether buf can be a buffer of len bytes: nothing is null, and no object is larger than half the address space. */
static inline int sys_is_buffer(const void *buf, kal_uintptr len)
{
    return (buf || len == 0) && len <= (kal_uintptr)PTRDIFF_MAX;
}

/* Write the whole buffer.
 * Requires: sys_is_buffer(buf, len).
 * Ensures:  len; or, where an error came, how much was moved before it; or the negated error where nothing was. Once a
 *           part has moved, a descriptor that would block is waited for: whoever set O_NONBLOCK on a shared pipe was
 *           not this program, which has no way to wait.             SPEC: KAL-2 */
static inline kal_intptr sys_write(int fd, const void *buf, kal_uintptr len)
{
    const char *from = buf;
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(fd, from + done, len - done < SYS_MOST ? len - done : SYS_MOST);

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
