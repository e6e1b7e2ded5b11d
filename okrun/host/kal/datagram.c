/* openkal.datagram.                                                                       SPEC: DGM-1 to DGM-4 */
#define _GNU_SOURCE
#include <openkal/datagram.h>

#include "endpoint.h"
#include "handle.h"
#include "net.h"
#include "sys.h"

/* Ensures:  kal_err_exists where the port is taken; a port of 0 is one that the system chooses; kal_err_invalid for
 *           what is no endpoint. Null is any address and port, and whoever is asked for is sent to.
 * SPEC: DGM-1 */
int kal_datagram_open(const struct kal_endpoint *local, struct kal_datagram *out)
{
    union address address;
    socklen_t length;
    int fd, on = 1;

    if (out == NULL || (local && !endpoint_read(local, &address, &length)))
        return kal_err_invalid;
    if (local == NULL)
        endpoint_any(&address, &length);
    fd = endpoint_bind(&address, length, SOCK_DGRAM, local != NULL);
    if (fd < 0)
        return -fd;
    (void)setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    out->h = handle_new(HANDLE_DATAGRAM, fd, NULL, NULL);
    if (out->h == 0) {
        close(fd);
        return kal_err_no_memory;
    }
    return kal_ok;
}

int kal_datagram_local(struct kal_datagram datagram, struct kal_endpoint *out)
{
    struct handle *handle = out != NULL ? handle_get(HANDLE_DATAGRAM, datagram.h) : NULL;
    struct kal_endpoint endpoint;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = endpoint_local(handle->fd, &endpoint);
    handle_put(handle);
    if (error == kal_ok)
        *out = endpoint;
    return error;
}

/* What a send says that failed. To a socket of IPv6 alone, an address of IPv4 is a net that it has no way to. */
static int send_error(int fd, int number, int family)
{
    int only_v6 = 0;
    socklen_t length = sizeof only_v6;

    if (number == ENETUNREACH && family == AF_INET &&
        getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, &length) == 0 && only_v6)
        return kal_err_not_supported;
    return sys_error(number);
}

/* Ensures:  len, all of it in one datagram, or the negated error: -kal_err_invalid where it is too long for one;
 *           -kal_err_not_supported for an address of the other family.                            SPEC: DGM-2 */
kal_intptr kal_datagram_send_to(struct kal_datagram datagram, const void *buf, kal_uintptr len,
                                const struct kal_endpoint *to)
{
    union address address;
    socklen_t length;
    struct handle *handle = NULL;
    kal_intptr sent;

    if (sys_is_buffer(buf, len) && endpoint_read(to, &address, &length))
        handle = handle_get(HANDLE_DATAGRAM, datagram.h);
    if (handle == NULL)
        return -kal_err_invalid;
    do {
        sent = sendto(handle->fd, buf, len, MSG_NOSIGNAL, &address.any, length);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        sent = -send_error(handle->fd, errno, address.any.sa_family);
    handle_put(handle);
    return sent;
}

/* Whether another task closed the socket: it is always ready then, and has nothing. */
static bool is_shut(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLRDHUP};

    return poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP)) != 0;
}

static kal_intptr receive(int fd, void *buf, kal_uintptr len, union address *address, wait_end end)
{
    for (bool waited = false;; waited = true) {
        socklen_t length = sizeof *address;
        int flags = end == WAIT_FOREVER ? 0 : MSG_DONTWAIT, error;
        ssize_t got = recvfrom(fd, buf, len, flags, &address->any, &length);

        if (got >= 0)
            return length > 0 ? got : -kal_err_closed; /* from nobody: another task closed it */
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return -sys_error(errno);
        if (waited && wait_is_over(end)) /* what was there another task took */
            return -kal_err_again;
        error = is_shut(fd) ? kal_err_closed : wait_for(fd, POLLIN, end);
        if (error != kal_ok)
            return -error;
    }
}

kal_intptr datagram_receive(struct kal_datagram datagram, void *buf, kal_uintptr len, struct kal_endpoint *from,
                            wait_end end)
{
    struct handle *handle = sys_is_buffer(buf, len) ? handle_get(HANDLE_DATAGRAM, datagram.h) : NULL;
    union address address;
    kal_intptr got;

    if (handle == NULL)
        return -kal_err_invalid;
    got = receive(handle->fd, buf, len, &address, end);
    handle_put(handle);
    if (got >= 0 && from)
        (void)endpoint_write(&address, from);
    return got;
}

/* Ensures:  the bytes of the next datagram that fit, and whence it came, where from is not null; what does not fit is
 *           lost.                                                                                 SPEC: DGM-3 */
kal_intptr kal_datagram_recv_from(struct kal_datagram datagram, void *buf, kal_uintptr len, struct kal_endpoint *from)
{
    return datagram_receive(datagram, buf, len, from, WAIT_FOREVER);
}

void kal_datagram_close(struct kal_datagram datagram)
{
    net_close(HANDLE_DATAGRAM, datagram.h);
}

kal_uintptr kal_datagram_props(void)
{
    return KAL_DGRAM_PROP_BROADCAST | (endpoint_has_v6() ? KAL_DGRAM_PROP_IPV6 : 0);
}
