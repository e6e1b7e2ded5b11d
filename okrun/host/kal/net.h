/* What openkal.timeout shares with the calls that it bounds. */
#ifndef OKHOST_KAL_NET_H
#define OKHOST_KAL_NET_H

#include <openkal/datagram.h>
#include <openkal/net.h>

#include "handle.h"
#include "wait.h"

/* Take the word of a connection, a listener or a datagram socket back.
 * Ensures:  calls of other tasks that wait at it end: a read as at the end of the input, any other with
 *           kal_err_closed.                                         SPEC: NET-8 */
void net_close(enum handle_kind kind, kal_uintptr word);

int net_accept(struct kal_net_listener listener, wait_end end, struct kal_net_conn *out);
kal_intptr datagram_receive(struct kal_datagram datagram, void *buf, kal_uintptr len, struct kal_endpoint *from,
                            wait_end end);

#endif
