/* Endpoints of this machine alone. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "conformance.h"

static inline struct kal_endpoint v4(kal_u32 port)
{
    return (struct kal_endpoint){{127, 0, 0, 1}, 4, port};
}

static inline struct kal_endpoint v6(kal_u32 port)
{
    return (struct kal_endpoint){.addr = {[15] = 1}, .addr_len = 16, .port = port};
}

static inline int is_at(const struct kal_endpoint* a, const struct kal_endpoint* b)
{
    return a->addr_len == b->addr_len && same(a->addr, b->addr, a->addr_len);
}

/* A port at which nobody listens, as far as one can know. */
static inline kal_u32 unused_port(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener;

    if (kal_net_listen(&at, &listener) != kal_ok)
        return 1;
    kal_net_listener_local(listener, &at);
    kal_net_close_listener(listener);
    return at.port;
}

#endif
