#define _GNU_SOURCE
#include "endpoint.h"

#include <arpa/inet.h>

#include "sys.h"

#define V4 4
#define V6 16
#define V6_WITH_SCOPE 20
#define MAX_PORT 65535

bool endpoint_read(const struct kal_endpoint *endpoint, union address *address, socklen_t *length)
{
    uint32_t scope = 0;

    if (endpoint == NULL || endpoint->port > MAX_PORT)
        return false;
    memset(address, 0, sizeof *address);
    if (endpoint->addr_len == V4) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons((uint16_t)endpoint->port);
        memcpy(&address->v4.sin_addr, endpoint->addr, V4);
        *length = sizeof address->v4;
        return true;
    }
    if (endpoint->addr_len != V6 && endpoint->addr_len != V6_WITH_SCOPE)
        return false;
    if (endpoint->addr_len == V6_WITH_SCOPE)
        memcpy(&scope, endpoint->addr + V6, sizeof scope);
    address->v6.sin6_family = AF_INET6;
    address->v6.sin6_port = htons((uint16_t)endpoint->port);
    address->v6.sin6_scope_id = ntohl(scope);
    memcpy(&address->v6.sin6_addr, endpoint->addr, V6);
    *length = sizeof address->v6;
    return true;
}

void endpoint_any(union address *address, socklen_t *length)
{
    memset(address, 0, sizeof *address);
    address->any.sa_family = endpoint_has_v6() ? AF_INET6 : AF_INET;
    *length = address->any.sa_family == AF_INET6 ? sizeof address->v6 : sizeof address->v4;
}

bool endpoint_write(const union address *address, struct kal_endpoint *endpoint)
{
    uint32_t scope;

    *endpoint = (struct kal_endpoint){0};
    if (address->any.sa_family == AF_INET) {
        memcpy(endpoint->addr, &address->v4.sin_addr, V4);
        endpoint->addr_len = V4;
        endpoint->port = ntohs(address->v4.sin_port);
        return true;
    }
    if (address->any.sa_family != AF_INET6)
        return false;
    endpoint->port = ntohs(address->v6.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr)) {
        memcpy(endpoint->addr, &address->v6.sin6_addr.s6_addr[V6 - V4], V4);
        endpoint->addr_len = V4;
        return true;
    }
    scope = htonl(address->v6.sin6_scope_id);
    memcpy(endpoint->addr, &address->v6.sin6_addr, V6);
    memcpy(endpoint->addr + V6, &scope, sizeof scope);
    endpoint->addr_len = scope != 0 ? V6_WITH_SCOPE : V6;
    return true;
}

int endpoint_bind(const union address *address, socklen_t length, int type, bool only_family)
{
    int family = address->any.sa_family, on = 1, v6_only = only_family, error;
    int fd = sys_keep(socket(family, type | SOCK_CLOEXEC, 0));

    if (fd < 0)
        return -sys_error(errno);
    /* A server that starts again gets its port. */
    if ((type & SOCK_STREAM) == SOCK_STREAM)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only);
    if (bind(fd, &address->any, length) == 0)
        return fd;
    error = sys_error(errno);
    close(fd);
    return -error;
}

static int asked(int (*ask)(int, struct sockaddr *, socklen_t *), int fd, struct kal_endpoint *endpoint)
{
    union address address;
    socklen_t length = sizeof address;

    if (ask(fd, &address.any, &length) != 0)
        return sys_error(errno);
    return endpoint_write(&address, endpoint) ? kal_ok : kal_err_not_supported;
}

static int own_name(int fd, struct sockaddr *address, socklen_t *length)
{
    return getsockname(fd, address, length);
}

static int other_name(int fd, struct sockaddr *address, socklen_t *length)
{
    return getpeername(fd, address, length);
}

int endpoint_local(int fd, struct kal_endpoint *endpoint)
{
    return asked(own_name, fd, endpoint);
}

int endpoint_peer(int fd, struct kal_endpoint *endpoint)
{
    return asked(other_name, fd, endpoint);
}

enum answer { UNKNOWN, YES, NO };

/* Without a descriptor to spare, the system says whether it knows the family, and no more. */
static enum answer ask_for_v6(void)
{
    const struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool has;

    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? UNKNOWN : NO;
    has = bind(fd, (const struct sockaddr *)&own, sizeof own) == 0 || errno != EADDRNOTAVAIL;
    close(fd);
    return has ? YES : NO;
}

bool endpoint_has_v6(void)
{
    static enum answer known;
    enum answer answer = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (answer == UNKNOWN) {
        answer = ask_for_v6();
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer != NO;
}
