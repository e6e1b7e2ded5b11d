/* Loopback connections. */
#define INTERFACE "net"
#include "loopback.h"

static struct kal_net_listener listener, closed_listener;
static struct kal_net_conn closed;
static struct kal_endpoint at;

/* Two ends of a connection. */
struct pair {
    struct kal_net_conn a, b;
};

static struct pair connected(void)
{
    struct pair pair = {{0}, {0}};

    kal_net_connect(&at, &pair.a);
    kal_net_accept(listener, &pair.b);
    return pair;
}

static void disconnect(struct pair* pair)
{
    kal_net_close(pair->a);
    kal_net_close(pair->b);
}

/* Whether every function that takes an endpoint says kal_err_invalid to this one. */
static int is_none(const struct kal_endpoint* endpoint)
{
    struct kal_net_conn conn = {UNTOUCHED};
    struct kal_net_listener other = {UNTOUCHED};

    return kal_net_connect(endpoint, &conn) == kal_err_invalid && kal_net_listen(endpoint, &other) == kal_err_invalid &&
           conn.h == UNTOUCHED && other.h == UNTOUCHED;
}

static void endpoints(void)
{
    struct kal_endpoint wrong = v4(1);

    CHECK(kal_net_connect, "no endpoint is kal_err_invalid", is_none(0));
    wrong.addr_len = 0;
    CHECK(kal_net_connect, "an address of no bytes is kal_err_invalid", is_none(&wrong));
    wrong.addr_len = 5;
    CHECK(kal_net_connect, "an address of 5 bytes is kal_err_invalid", is_none(&wrong));
    wrong.addr_len = 24;
    CHECK(kal_net_connect, "an address of 24 bytes is kal_err_invalid", is_none(&wrong));
    wrong = v4(65536);
    CHECK(kal_net_connect, "a port above 65,535 is kal_err_invalid", is_none(&wrong));
}

static void listening(void)
{
    struct kal_endpoint any = v4(0), not_ours = {{192, 0, 2, 1}, 4, 0}, u = {.port = UNTOUCHED};
    struct kal_net_listener other = {UNTOUCHED};

    CHECK(kal_net_listen, "at a port that the system chooses",
          kal_net_listen(&any, &listener) == kal_ok && listener.h != 0);
    CHECK(kal_net_listener_local, "is the endpoint",
          kal_net_listener_local(listener, &at) == kal_ok && is_at(&at, &any) && at.port != 0);
    CHECK(kal_net_listen, "a port that is taken is kal_err_exists, and nothing is written",
          kal_net_listen(&at, &other) == kal_err_exists && other.h == UNTOUCHED);
    CHECK(kal_net_listen, "an address that is not this machine's is kal_err_not_supported",
          kal_net_listen(&not_ours, &other) == kal_err_not_supported);
    CHECK(kal_net_listen, "a null out-pointer is kal_err_invalid", kal_net_listen(&any, 0) == kal_err_invalid);
    CHECK(kal_net_listener_local, "a null out-pointer is kal_err_invalid",
          kal_net_listener_local(listener, 0) == kal_err_invalid);
    kal_net_listen(&any, &closed_listener);
    kal_net_listener_local(closed_listener, &u);
    kal_net_close_listener(closed_listener);
    CHECK(kal_net_close_listener, "its port is free at once", kal_net_listen(&u, &other) == kal_ok);
    kal_net_close_listener(other);
    u.port = UNTOUCHED;
    REFUSES(kal_net_listener_local, closed_listener.h, kal_stdin().h,
            kal_net_listener_local((struct kal_net_listener){word}, &u) == kal_err_invalid && u.port == UNTOUCHED);
    REFUSES(kal_net_close_listener, closed_listener.h, kal_stdin().h,
            (kal_net_close_listener((struct kal_net_listener){word}), kal_net_listener_local(listener, &at) == kal_ok));
}

static void connecting(void)
{
    struct pair pair = {{UNTOUCHED}, {UNTOUCHED}};
    struct kal_endpoint free = v4(0), local, peer;
    struct kal_net_conn conn = {UNTOUCHED};

    CHECK(kal_net_connect, "to a listener", kal_net_connect(&at, &pair.a) == kal_ok && pair.a.h != 0);
    CHECK(kal_net_accept, "gives the connection",
          kal_net_accept(listener, &pair.b) == kal_ok && pair.b.h != 0 && pair.b.h != pair.a.h);
    CHECK(kal_net_peer, "is the other's endpoint",
          kal_net_peer(pair.a, &peer) == kal_ok && is_at(&peer, &at) && peer.port == at.port);
    CHECK(kal_net_local, "is this end's",
          kal_net_local(pair.a, &local) == kal_ok && kal_net_peer(pair.b, &peer) == kal_ok && is_at(&peer, &local) &&
              peer.port == local.port);
    CHECK(kal_net_peer, "a null out-pointer is kal_err_invalid", kal_net_peer(pair.a, 0) == kal_err_invalid);
    CHECK(kal_net_local, "a null out-pointer is kal_err_invalid", kal_net_local(pair.a, 0) == kal_err_invalid);
    CHECK(kal_net_connect, "a null out-pointer is kal_err_invalid", kal_net_connect(&at, 0) == kal_err_invalid);
    CHECK(kal_net_accept, "a null out-pointer is kal_err_invalid", kal_net_accept(listener, 0) == kal_err_invalid);
    disconnect(&pair);
    closed = pair.a;
    free.port = unused_port();
    CHECK(kal_net_connect, "where nobody listens is kal_err_closed, and nothing is written",
          kal_net_connect(&free, &conn) == kal_err_closed && conn.h == UNTOUCHED);
    REFUSES(kal_net_accept, closed_listener.h, closed.h,
            kal_net_accept((struct kal_net_listener){word}, &conn) == kal_err_invalid && conn.h == UNTOUCHED);
    REFUSES(kal_net_peer, closed.h, listener.h, kal_net_peer((struct kal_net_conn){word}, &peer) == kal_err_invalid);
    REFUSES(kal_net_local, closed.h, listener.h, kal_net_local((struct kal_net_conn){word}, &local) == kal_err_invalid);
}

static void streams(void)
{
    struct pair pair = connected();
    struct kal_stream a = kal_net_stream(pair.a), b = kal_net_stream(pair.b);
    char room[16];

    CHECK(kal_net_stream, "what one end writes the other reads",
          a.h && b.h && kal_stream_write(a, "there", 5) == 5 && kal_stream_read(b, room, 16) == 5 &&
              same(room, "there", 5));
    CHECK(kal_net_stream, "and the other way",
          kal_stream_write(b, "back", 4) == 4 && kal_stream_read(a, room, 16) == 4 && same(room, "back", 4));
    REFUSES(kal_net_stream, closed.h, listener.h, kal_net_stream((struct kal_net_conn){word}).h == 0);
    REFUSES(kal_net_close, closed.h, listener.h,
            (kal_net_close((struct kal_net_conn){word}),
             kal_stream_write(a, "x", 1) == 1 && kal_stream_read(b, room, 1) == 1));
    kal_net_close(pair.a);
    CHECK(kal_net_close, "the other end reads the end", kal_stream_read(b, room, 16) == 0);
    CHECK(kal_net_close, "ends its stream", kal_stream_write(a, "x", 1) == -kal_err_invalid);
    kal_stream_write(b, "x", 1);
    for (int i = 0; i < 100 && kal_stream_write(b, "x", 1) == 1; i++)
        kal_time_sleep(10 * MILLISECOND);
    CHECK(kal_net_close, "the other end's write is kal_err_closed", kal_stream_write(b, "x", 1) == -kal_err_closed);
    kal_net_close(pair.b);
}

/* A connection that the other end closed with something unread. */
static void resets(void)
{
    struct pair pair = connected();
    struct kal_endpoint peer = {.port = UNTOUCHED};
    kal_intptr n = 0;
    char byte;

    kal_stream_write(kal_net_stream(pair.a), "unread", 6);
    for (int i = 0; i < 6000 && n == 0; i++) { /* until it is there */
        n = kal_stream_read(kal_net_stream(pair.b), &byte, 1);
        kal_time_sleep(MILLISECOND);
    }
    kal_net_close(pair.b);
    CHECK(kal_net_stream, "a read of a connection that was reset is kal_err_closed",
          kal_stream_read(kal_net_stream(pair.a), &byte, 1) == -kal_err_closed);
    CHECK(kal_net_stream, "a write is, too", kal_stream_write(kal_net_stream(pair.a), "x", 1) == -kal_err_closed);
    CHECK(kal_net_peer, "of a connection that is gone is kal_err_closed, and nothing is written",
          kal_net_peer(pair.a, &peer) == kal_err_closed && peer.port == UNTOUCHED);
    CHECK(kal_net_shutdown, "of a connection that is gone is kal_err_closed",
          kal_net_shutdown(pair.a, KAL_SHUT_WRITE) == kal_err_closed);
    kal_net_close(pair.a);
}

static int accepted;
static kal_intptr was_read;

static void accepts(void* argument)
{
    struct kal_net_conn conn;

    accepted = kal_net_accept(*(struct kal_net_listener*)argument, &conn);
}

static void reads(void* argument)
{
    char byte;

    was_read = kal_stream_read(*(struct kal_stream*)argument, &byte, 1);
}

/* The calls of another task; one that comes too late finds a word that is none. */
static void closing(void)
{
    struct kal_endpoint any = v4(0);
    struct kal_net_listener other = {0};
    struct pair pair = connected();
    struct kal_stream stream = kal_net_stream(pair.a);
    struct kal_task task;

    kal_task_start(reads, &stream, &task);
    kal_time_sleep(100 * MILLISECOND);
    kal_net_close(pair.a);
    kal_task_join(task);
    CHECK(kal_net_close, "ends a read of another task as the end of the input",
          was_read == 0 || was_read == -kal_err_invalid);
    kal_net_close(pair.b);
    kal_net_listen(&any, &other);
    kal_task_start(accepts, &other, &task);
    kal_time_sleep(100 * MILLISECOND);
    kal_net_close_listener(other);
    kal_task_join(task);
    CHECK(kal_net_close_listener, "ends an accept of another task with kal_err_closed",
          accepted == kal_err_closed || accepted == kal_err_invalid);
}

static void halves(void)
{
    struct pair pair = connected();
    struct kal_stream a = kal_net_stream(pair.a), b = kal_net_stream(pair.b);
    char room[16];

    CHECK(kal_net_shutdown, "another direction is kal_err_invalid",
          kal_net_shutdown(pair.a, 0) == kal_err_invalid && kal_net_shutdown(pair.a, 4) == kal_err_invalid &&
              kal_net_shutdown(pair.a, -1) == kal_err_invalid);
    REFUSES(kal_net_shutdown, closed.h, listener.h,
            kal_net_shutdown((struct kal_net_conn){word}, KAL_SHUT_BOTH) == kal_err_invalid);
    if ((kal_net_props() & KAL_NET_PROP_HALFCLOSE) == 0) {
        UNOBSERVED(kal_net_shutdown, "WRITE: the other end reads what was sent, then the end");
    } else {
        kal_stream_write(a, "last", 4);
        CHECK(kal_net_shutdown, "WRITE: the other end reads what was sent, then the end",
              kal_net_shutdown(pair.a, KAL_SHUT_WRITE) == kal_ok && kal_stream_read(b, room, 16) == 4 &&
                  kal_stream_read(b, room, 16) == 0);
        CHECK(kal_net_shutdown, "WRITE: a write is kal_err_closed", kal_stream_write(a, "x", 1) == -kal_err_closed);
        CHECK(kal_net_shutdown, "WRITE: the other direction goes on",
              kal_stream_write(b, "on", 2) == 2 && kal_stream_read(a, room, 16) == 2);
        CHECK(kal_net_shutdown, "twice is kal_ok", kal_net_shutdown(pair.a, KAL_SHUT_WRITE) == kal_ok);
        CHECK(kal_net_shutdown, "READ: a read is the end",
              kal_net_shutdown(pair.a, KAL_SHUT_READ) == kal_ok && kal_stream_read(a, room, 16) == 0);
    }
    disconnect(&pair);
    pair = connected();
    CHECK(kal_net_shutdown, "BOTH ends both",
          kal_net_shutdown(pair.a, KAL_SHUT_BOTH) == kal_ok &&
              kal_stream_write(kal_net_stream(pair.a), "x", 1) == -kal_err_closed &&
              kal_stream_read(kal_net_stream(pair.a), room, 1) == 0);
    disconnect(&pair);
}

static void ipv6(void)
{
    struct kal_endpoint any = v6(0), local;
    struct kal_net_listener other = {0};
    struct kal_net_conn a = {0}, b = {0};

    if ((kal_net_props() & KAL_NET_PROP_IPV6) == 0) {
        UNOBSERVED(kal_net_listen, "at an address of 16 bytes");
        return;
    }
    CHECK(kal_net_listen, "at an address of 16 bytes",
          kal_net_listen(&any, &other) == kal_ok && kal_net_listener_local(other, &any) == kal_ok &&
              any.addr_len == 16);
    CHECK(kal_net_connect, "to an address of 16 bytes",
          kal_net_connect(&any, &a) == kal_ok && kal_net_accept(other, &b) == kal_ok);
    CHECK(kal_net_peer, "an address of 16 bytes",
          kal_net_peer(a, &local) == kal_ok && is_at(&local, &any) && local.port == any.port);
    kal_net_close(a);
    kal_net_close(b);
    local = (struct kal_endpoint){{0xfe, 0x80, [15] = 1}, 16, 1};
    CHECK(kal_net_connect, "to an address of a link, without a scope, is kal_err_invalid",
          kal_net_connect(&local, &a) == kal_err_invalid);
    any.addr_len = 20;
    any.port = 0;
    CHECK(kal_net_connect, "a scope of 0 comes back as none",
          kal_net_listen(&any, &listener) == kal_ok && kal_net_listener_local(listener, &local) == kal_ok &&
              local.addr_len == 16);
    kal_net_close_listener(other);
}

int main(void)
{
    CHECK(kal_net_props, "unassigned positions are 0",
          (kal_net_props() & ~(KAL_NET_PROP_IPV6 | KAL_NET_PROP_HALFCLOSE)) == 0);
    CHECK(kal_net_props, "is the same at every call", kal_net_props() == kal_net_props());
    endpoints();
    listening();
    connecting();
    streams();
    resets();
    closing();
    halves();
    ipv6();
    kal_net_close_listener(listener);
    return summary();
}
