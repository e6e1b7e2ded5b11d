/* Connections of the loopback device for tests, and what lies beneath a handle. */
#ifndef TEST_LOOPBACK_H
#define TEST_LOOPBACK_H

#include <openkal/net.h>
#include <openkal/stream.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "check.h"
#include "kal/handle.h"

static struct kal_endpoint v4(kal_u32 port)
{
    return (struct kal_endpoint){.addr = {127, 0, 0, 1}, .addr_len = 4, .port = port};
}

static inline struct kal_endpoint v6(kal_u32 port)
{
    return (struct kal_endpoint){.addr = {[15] = 1}, .addr_len = 16, .port = port};
}

static int descriptor_of(enum handle_kind kind, kal_uintptr word)
{
    struct handle *handle = handle_get(kind, word);
    int fd;

    CHECK(handle != NULL);
    fd = handle->fd;
    handle_put(handle);
    return fd;
}

/* Until another task is in a call that uses the handle. */
static inline void await_use(enum handle_kind kind, kal_uintptr word)
{
    struct handle *handle = handle_get(kind, word);

    CHECK(handle != NULL);
    while (__atomic_load_n(&handle->uses, __ATOMIC_RELAXED) < 3) /* while it is open, of this function, of the other's */
        sched_yield();
    handle_put(handle);
}

/* Listen at a port of the system's choice; *at says which. */
static inline struct kal_net_listener listening(struct kal_endpoint *at)
{
    struct kal_net_listener listener;

    CHECK(kal_net_listen(at, &listener) == kal_ok);
    CHECK(kal_net_listener_local(listener, at) == kal_ok);
    return listener;
}

static inline struct kal_stream stream_of(struct kal_net_conn conn)
{
    struct kal_stream stream = kal_net_stream(conn);

    CHECK(stream.h != 0);
    return stream;
}

/* The two ends of a connection: [0] connected, [1] accepted. */
static inline void connected(struct kal_net_conn ends[2])
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener = listening(&at);

    CHECK(kal_net_connect(&at, &ends[0]) == kal_ok);
    CHECK(kal_net_accept(listener, &ends[1]) == kal_ok);
    kal_net_close_listener(listener);
}

/* Close it with a reset. */
static inline void break_off(struct kal_net_conn conn)
{
    struct linger at_once = {.l_onoff = 1};

    CHECK(setsockopt(descriptor_of(HANDLE_CONN, conn.h), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    kal_net_close(conn);
}

static inline void pause_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

#endif
