/* openkal.net: Connections. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_NET_H
#define OPENKAL_NET_H

#include "types.h"
#include "stream.h"

/* A connection, owned. */
struct kal_net_conn {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_net_conn) == 8, "kal_net_conn: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_net_conn, h) == 0, "kal_net_conn.h: offset");

/* A listener, owned. */
struct kal_net_listener {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_net_listener) == 8, "kal_net_listener: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_net_listener, h) == 0, "kal_net_listener.h: offset");

/* An address and a port. */
struct kal_endpoint {
    kal_u8 addr[24]; /* The address, network order. */
    kal_u32 addr_len; /* 4, 16, or 20 with a scope. */
    kal_u32 port; /* The port, host order. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_endpoint) == 32, "kal_endpoint: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_endpoint, addr) == 0, "kal_endpoint.addr: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_endpoint, addr_len) == 24, "kal_endpoint.addr_len: offset");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_endpoint, port) == 28, "kal_endpoint.port: offset");

#define KAL_SHUT_READ 1 /* No more is read. */
#define KAL_SHUT_WRITE 2 /* No more is written. */
#define KAL_SHUT_BOTH 3 /* Neither. */
#define KAL_NET_PROP_IPV6 ((kal_uintptr)1<<0) /* There is IPv6. */
#define KAL_NET_PROP_HALFCLOSE ((kal_uintptr)1<<1) /* One direction can be closed. */

#ifdef __cplusplus
extern "C" {
#endif

/* Connect. */
int kal_net_connect(const struct kal_endpoint* endpoint, struct kal_net_conn* out);

/* Listen. */
int kal_net_listen(const struct kal_endpoint* endpoint, struct kal_net_listener* out);

/* Wait for a connection. */
int kal_net_accept(struct kal_net_listener listener, struct kal_net_conn* out);

/* The other end's address. */
int kal_net_peer(struct kal_net_conn conn, struct kal_endpoint* out);

/* This end's address. */
int kal_net_local(struct kal_net_conn conn, struct kal_endpoint* out);

/* The listener's address. */
int kal_net_listener_local(struct kal_net_listener listener, struct kal_endpoint* out);

/* The stream of a connection, borrowed from it. */
struct kal_stream kal_net_stream(struct kal_net_conn conn);

/* Close a direction; KAL_SHUT_. */
int kal_net_shutdown(struct kal_net_conn conn, int direction);

/* Close it. */
void kal_net_close(struct kal_net_conn conn);

/* Close it. */
void kal_net_close_listener(struct kal_net_listener listener);

/* KAL_NET_PROP_ bits. */
kal_uintptr kal_net_props(void);

#ifdef __cplusplus
}
#endif

#endif
