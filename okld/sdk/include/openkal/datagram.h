/* openkal.datagram: Datagrams. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_DATAGRAM_H
#define OPENKAL_DATAGRAM_H

#include "types.h"
#include "net.h"

/* A place that sends and receives datagrams, owned. */
struct kal_datagram {
    kal_uintptr h; /* The handle; 0 is never issued. */
};
KAL_STATIC_ASSERT(sizeof(struct kal_datagram) == 8, "kal_datagram: size");
KAL_STATIC_ASSERT(__builtin_offsetof(struct kal_datagram, h) == 0, "kal_datagram.h: offset");

#define KAL_DGRAM_PROP_IPV6 ((kal_uintptr)1<<0) /* There is IPv6. */
#define KAL_DGRAM_PROP_BROADCAST ((kal_uintptr)1<<1) /* There is broadcast. */

#ifdef __cplusplus
extern "C" {
#endif

/* Open one at an address. */
int kal_datagram_open(const struct kal_endpoint* local, struct kal_datagram* out);

/* Its address. */
int kal_datagram_local(struct kal_datagram datagram, struct kal_endpoint* out);

/* Send one. */
kal_intptr kal_datagram_send_to(struct kal_datagram datagram, const void* buf, kal_uintptr len,
                                const struct kal_endpoint* to);

/* Receive one, and whence. */
kal_intptr kal_datagram_recv_from(struct kal_datagram datagram, void* buf, kal_uintptr len,
                                  struct kal_endpoint* from);

/* Close it. */
void kal_datagram_close(struct kal_datagram datagram);

/* KAL_DGRAM_PROP_ bits. */
kal_uintptr kal_datagram_props(void);

#ifdef __cplusplus
}
#endif

#endif
