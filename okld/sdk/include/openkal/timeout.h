/* openkal.timeout: The waiting calls with a bound; expired is kal_err_again, and ns 0 is no bound. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_TIMEOUT_H
#define OPENKAL_TIMEOUT_H

#include "types.h"
#include "datagram.h"
#include "net.h"
#include "process.h"
#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* kal_stream_read with a bound. */
kal_intptr kal_timeout_read(struct kal_stream stream, void* buf, kal_uintptr len, kal_u64 ns);

/* kal_stream_write with a bound. */
kal_intptr kal_timeout_write(struct kal_stream stream, const void* buf, kal_uintptr len,
                             kal_u64 ns);

/* kal_net_accept with a bound. */
int kal_timeout_accept(struct kal_net_listener listener, kal_u64 ns, struct kal_net_conn* out);

/* kal_datagram_recv_from with a bound. */
kal_intptr kal_timeout_recv_from(struct kal_datagram datagram, void* buf, kal_uintptr len,
                                 struct kal_endpoint* from, kal_u64 ns);

/* kal_process_wait with a bound. */
int kal_timeout_wait_process(struct kal_process process, kal_u64 ns, int* status, int* terminated);

/* The step of a bound, in nanoseconds. */
kal_u64 kal_timeout_granularity(void);

#ifdef __cplusplus
}
#endif

#endif
