/* openkal.net: connections.                                                              SPEC: NET-1 to NET-9 */
#define _GNU_SOURCE
#include "net.h"

#include <netinet/tcp.h>

#include "endpoint.h"
#include "handle.h"
#include "sys.h"

/* Give a socket a handle, or close it. */
static int issue(enum handle_kind kind, int fd, kal_uintptr *out)
{
    kal_uintptr word = handle_new(kind, fd, NULL, NULL);

    if (word == 0) {
        close(fd);
        return kal_err_no_memory;
    }
    *out = word;
    return kal_ok;
}

/* What is written is sent. The system holds it back, else, while the other end has not confirmed what came before, and
 * the surface has no word for that. */
static void hold_nothing_back(int fd)
{
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* A connect that was interrupted goes on by itself: its end is waited for, as it cannot be asked for twice. */
static int finish_connect(int fd)
{
    int error = wait_for(fd, POLLOUT, WAIT_FOREVER), number = 0;
    socklen_t length = sizeof number;

    if (error != kal_ok)
        return error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length) != 0)
        number = errno;
    return number == 0 ? kal_ok : sys_error(number);
}

/* Whether a connection's two ends are one: the system gives a connect some port, and where nobody listens at the port
 * that is asked for that can be the one, which then answers to itself. */
static bool is_its_own_end(int fd)
{
    struct kal_endpoint here, there;

    return endpoint_local(fd, &here) == kal_ok && endpoint_peer(fd, &there) == kal_ok && here.port == there.port &&
           here.addr_len == there.addr_len && memcmp(here.addr, there.addr, sizeof here.addr) == 0;
}

/* Ensures:  kal_err_invalid for what is no endpoint; kal_err_closed where nobody listens; kal_err_not_found where there
 *           is no way to it; kal_err_again where it did not answer in the system's time.          SPEC: NET-2 */
int kal_net_connect(const struct kal_endpoint *endpoint, struct kal_net_conn *out)
{
    union address address;
    socklen_t length;
    int fd, error = kal_ok;

    if (out == NULL || !endpoint_read(endpoint, &address, &length))
        return kal_err_invalid;
    fd = sys_keep(socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return sys_error(errno);
    hold_nothing_back(fd);
    if (connect(fd, &address.any, length) != 0)
        error = errno == EINTR ? finish_connect(fd) : sys_error(errno);
    if (error == kal_ok && is_its_own_end(fd))
        error = kal_err_closed;
    if (error != kal_ok) {
        close(fd);
        return error;
    }
    return issue(HANDLE_CONN, fd, &out->h);
}

/* Ensures:  kal_err_exists where the port is taken; a port of 0 is one that the system chooses.   SPEC: NET-3 */
int kal_net_listen(const struct kal_endpoint *endpoint, struct kal_net_listener *out)
{
    union address address;
    socklen_t length;
    int fd;

    if (out == NULL || !endpoint_read(endpoint, &address, &length))
        return kal_err_invalid;
    /* Not blocking: of two tasks that wait for one connection, one waits on. */
    fd = endpoint_bind(&address, length, SOCK_STREAM | SOCK_NONBLOCK, true);
    if (fd < 0)
        return -fd;
    hold_nothing_back(fd); /* nor do the connections that it gives */
    if (listen(fd, SOMAXCONN) != 0) {
        int error = sys_error(errno);

        close(fd);
        return error;
    }
    return issue(HANDLE_LISTENER, fd, &out->h);
}

/* What accept() says of a connection that died before it was taken, and not of the listener. Source: accept(2). */
static bool is_of_the_connection(int number)
{
    switch (number) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
        return true;
    default:
        return false;
    }
}

static int accept_one(int listener, wait_end end)
{
    for (;;) {
        int fd = sys_keep(accept4(listener, NULL, NULL, SOCK_CLOEXEC)), error;

        if (fd >= 0)
            return fd;
        if (is_of_the_connection(errno))
            continue;
        if (errno == EINVAL) /* another task closed it */
            return -kal_err_closed;
        if (errno != EAGAIN)
            return -sys_error(errno);
        error = wait_for(listener, POLLIN, end);
        if (error != kal_ok)
            return -error;
    }
}

int net_accept(struct kal_net_listener listener, wait_end end, struct kal_net_conn *out)
{
    struct handle *handle = out != NULL ? handle_get(HANDLE_LISTENER, listener.h) : NULL;
    int fd;

    if (handle == NULL)
        return kal_err_invalid;
    fd = accept_one(handle->fd, end);
    handle_put(handle);
    return fd < 0 ? -fd : issue(HANDLE_CONN, fd, &out->h);
}

/* Ensures:  the next connection, which may have ended by now; kal_err_no_memory, and it is still the next, where there
 *           is no descriptor for it.                                                              SPEC: NET-4 */
int kal_net_accept(struct kal_net_listener listener, struct kal_net_conn *out)
{
    return net_accept(listener, WAIT_FOREVER, out);
}

static int address_of(enum handle_kind kind, kal_uintptr word, int (*ask)(int, struct kal_endpoint *),
                      struct kal_endpoint *out)
{
    struct handle *handle = out != NULL ? handle_get(kind, word) : NULL;
    struct kal_endpoint endpoint;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = ask(handle->fd, &endpoint);
    handle_put(handle);
    if (error == kal_ok)
        *out = endpoint;
    return error;
}

/* Ensures:  kal_err_closed where the connection is gone.                                          SPEC: NET-5 */
int kal_net_peer(struct kal_net_conn conn, struct kal_endpoint *out)
{
    return address_of(HANDLE_CONN, conn.h, endpoint_peer, out);
}

int kal_net_local(struct kal_net_conn conn, struct kal_endpoint *out)
{
    return address_of(HANDLE_CONN, conn.h, endpoint_local, out);
}

int kal_net_listener_local(struct kal_net_listener listener, struct kal_endpoint *out)
{
    return address_of(HANDLE_LISTENER, listener.h, endpoint_local, out);
}

/* Ensures:  a stream that ends with the connection; 0 for a word that is none.                    SPEC: NET-6 */
struct kal_stream kal_net_stream(struct kal_net_conn conn)
{
    struct handle *handle = handle_get(HANDLE_CONN, conn.h);

    if (handle == NULL)
        return (struct kal_stream){0};
    handle_put(handle);
    return handle_stream(conn.h);
}

/* Ensures:  kal_err_closed where the connection is gone.                                          SPEC: NET-7 */
int kal_net_shutdown(struct kal_net_conn conn, int direction)
{
    static const int ways[] = {
        [KAL_SHUT_READ] = SHUT_RD, [KAL_SHUT_WRITE] = SHUT_WR, [KAL_SHUT_BOTH] = SHUT_RDWR};
    struct handle *handle =
        direction >= KAL_SHUT_READ && direction <= KAL_SHUT_BOTH ? handle_get(HANDLE_CONN, conn.h) : NULL;
    int error;

    if (handle == NULL)
        return kal_err_invalid;
    error = shutdown(handle->fd, ways[direction]) == 0 ? kal_ok : sys_error(errno);
    handle_put(handle);
    return error;
}

void net_close(enum handle_kind kind, kal_uintptr word)
{
    struct handle *handle = handle_get(kind, word);

    if (handle == NULL)
        return;
    /* Not where nobody waits: a program that was started with the stream goes on with it. */
    if (handle_close(kind, word) == kal_ok && __atomic_load_n(&handle->uses, __ATOMIC_ACQUIRE) > 1)
        (void)shutdown(handle->fd, SHUT_RDWR);
    handle_put(handle);
}

void kal_net_close(struct kal_net_conn conn)
{
    net_close(HANDLE_CONN, conn.h);
}

void kal_net_close_listener(struct kal_net_listener listener)
{
    net_close(HANDLE_LISTENER, listener.h);
}

kal_uintptr kal_net_props(void)
{
    return KAL_NET_PROP_HALFCLOSE | (endpoint_has_v6() ? KAL_NET_PROP_IPV6 : 0);
}
