/* Endpoints of the loopback device. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "expect.h"

static inline struct kal_endpoint v4(kal_u32 port)
{
    struct kal_endpoint at = {{127, 0, 0, 1}, 4, port};

    return at;
}

static inline struct kal_endpoint v6(kal_u32 port)
{
    struct kal_endpoint at = {{0}, 16, port};

    at.addr[15] = 1;
    return at;
}

#endif
