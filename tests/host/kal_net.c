/* openkal.net of the native host: how connections are made.                   SPEC: NET-1 to NET-5, NET-7 to NET-9 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interrupt.h"
#include "kal/endpoint.h"
#include "loopback.h"

#define ACCEPTORS 8
#define CONNECTIONS 64

/* SPEC: NET-9 */
static void what_there_is_does_not_depend_on_descriptors(void)
{
    struct rlimit limit, none;
    kal_uintptr without;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit, none.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    without = kal_net_props(); /* the first time that it is asked */
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK((kal_net_props() & ~without) == 0);
}

/* SPEC: NET-1 */
static void what_is_no_endpoint_is_refused(void)
{
    const kal_u32 lengths[] = {0, 1, 3, 5, 8, 12, 15, 17, 19, 21, 24, 25, 0x80000004, UINT32_MAX};
    const kal_u32 ports[] = {65536, 65536 + 80, INT32_MAX, UINT32_MAX};
    struct kal_endpoint endpoint = v4(0), wrong;
    struct kal_net_conn conn = {77};
    struct kal_net_listener listener = {77};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        wrong = endpoint, wrong.addr_len = lengths[i];
        CHECK(kal_net_connect(&wrong, &conn) == kal_err_invalid);
        CHECK(kal_net_listen(&wrong, &listener) == kal_err_invalid);
    }
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        wrong = endpoint, wrong.port = ports[i];
        CHECK(kal_net_connect(&wrong, &conn) == kal_err_invalid);
        CHECK(kal_net_listen(&wrong, &listener) == kal_err_invalid);
    }
    CHECK(kal_net_connect(NULL, &conn) == kal_err_invalid && kal_net_connect(&endpoint, NULL) == kal_err_invalid);
    CHECK(kal_net_listen(NULL, &listener) == kal_err_invalid && kal_net_listen(&endpoint, NULL) == kal_err_invalid);
    CHECK(conn.h == 77 && listener.h == 77);
}

/* SPEC: NET-1 */
static void an_endpoint_is_an_address_of_the_system(void)
{
    struct kal_endpoint in = {.addr = {0xfe, 0x80, [15] = 9, [16] = 1, 2, 3, 4}, .addr_len = 20, .port = 65535}, out;
    union address address;
    socklen_t length;

    CHECK(endpoint_read(&in, &address, &length) && length == sizeof(struct sockaddr_in6));
    CHECK(address.v6.sin6_family == AF_INET6 && ntohs(address.v6.sin6_port) == 65535);
    CHECK(address.v6.sin6_scope_id == 0x01020304 && memcmp(&address.v6.sin6_addr, in.addr, 16) == 0);
    CHECK(endpoint_write(&address, &out) && memcmp(&in, &out, sizeof in) == 0);

    in.addr_len = 16; /* what comes after an address is none of it */
    CHECK(endpoint_read(&in, &address, &length) && address.v6.sin6_scope_id == 0);
    memset(in.addr + 16, 0, sizeof in.addr - 16);
    CHECK(endpoint_write(&address, &out) && memcmp(&in, &out, sizeof in) == 0);

    in = (struct kal_endpoint){.addr = {[10] = 0xff, 0xff, 192, 0, 2, 1}, .addr_len = 16, .port = 7};
    CHECK(endpoint_read(&in, &address, &length) && address.any.sa_family == AF_INET6);
    in = (struct kal_endpoint){.addr = {192, 0, 2, 1}, .addr_len = 4, .port = 7};
    CHECK(endpoint_write(&address, &out) && memcmp(&in, &out, sizeof in) == 0);
    CHECK(endpoint_read(&in, &address, &length) && length == sizeof(struct sockaddr_in));
    CHECK(address.v4.sin_addr.s_addr == htonl(0xc0000201) && ntohs(address.v4.sin_port) == 7);

    address.any.sa_family = AF_UNIX;
    CHECK(!endpoint_write(&address, &out));
}

/* SPEC: NET-1, NET-8 */
static void words_are_those_that_were_issued(void)
{
    struct kal_endpoint at = v4(0), untouched = {.port = 77};
    struct kal_net_listener listener = listening(&at);
    struct kal_net_conn ends[2], out = {77};
    struct kal_stream stream;
    char byte;

    connected(ends);
    stream = stream_of(ends[0]);
    for (kal_uintptr word = 0; word < 70000; word++) {
        CHECK(kal_net_stream((struct kal_net_conn){word}).h == 0);
        CHECK(kal_net_accept((struct kal_net_listener){word}, &out) == kal_err_invalid);
    }
    CHECK(kal_net_peer((struct kal_net_conn){listener.h}, &untouched) == kal_err_invalid);
    CHECK(kal_net_local((struct kal_net_conn){stream.h}, &untouched) == kal_err_invalid);
    CHECK(kal_net_listener_local((struct kal_net_listener){ends[0].h}, &untouched) == kal_err_invalid);
    CHECK(kal_net_accept((struct kal_net_listener){ends[0].h}, &out) == kal_err_invalid);
    CHECK(kal_net_shutdown((struct kal_net_conn){listener.h}, KAL_SHUT_BOTH) == kal_err_invalid);
    CHECK(kal_net_peer(ends[0], NULL) == kal_err_invalid && kal_net_local(ends[0], NULL) == kal_err_invalid);
    CHECK(kal_net_listener_local(listener, NULL) == kal_err_invalid);
    CHECK(kal_net_accept(listener, NULL) == kal_err_invalid);
    CHECK(untouched.port == 77 && out.h == 77);

    kal_net_close((struct kal_net_conn){listener.h}); /* nothing is done */
    kal_net_close_listener((struct kal_net_listener){ends[0].h});
    CHECK(kal_net_listener_local(listener, &at) == kal_ok && kal_net_local(ends[0], &at) == kal_ok);

    kal_net_close(ends[0]);
    kal_net_close(ends[0]);
    kal_net_close_listener(listener);
    CHECK(kal_net_stream(ends[0]).h == 0 && kal_net_peer(ends[0], &at) == kal_err_invalid);
    CHECK(kal_stream_read(stream, &byte, 1) == -kal_err_invalid);
    CHECK(kal_stream_write(stream, &byte, 1) == -kal_err_invalid);
    CHECK(kal_net_listener_local(listener, &at) == kal_err_invalid);
    CHECK(kal_net_accept(listener, &out) == kal_err_invalid);
    kal_net_close(ends[1]);
}

/* SPEC: NET-3 */
static void a_port_is_taken_until_its_listener_is_closed(void)
{
    struct kal_endpoint at = v4(0), zero = {0};
    struct kal_net_listener listener = listening(&at), other = {77};
    struct kal_net_conn ends[2];
    char byte;

    CHECK(at.port != 0 && at.port <= 65535 && at.addr_len == 4 && memcmp(at.addr, "\x7f\0\0\1", 4) == 0);
    CHECK(memcmp(at.addr + 4, zero.addr + 4, sizeof at.addr - 4) == 0);
    CHECK(kal_net_listen(&at, &other) == kal_err_exists && other.h == 77);

    /* The end that closes first has the port for a while after. */
    CHECK(kal_net_connect(&at, &ends[0]) == kal_ok && kal_net_accept(listener, &ends[1]) == kal_ok);
    kal_net_close(ends[1]);
    CHECK(kal_stream_read(stream_of(ends[0]), &byte, 1) == 0);
    kal_net_close(ends[0]);
    kal_net_close_listener(listener);
    CHECK(kal_net_listen(&at, &other) == kal_ok);
    kal_net_close_listener(other);

    at = (struct kal_endpoint){.addr = {203, 0, 113, 1}, .addr_len = 4}; /* no machine's own: RFC 5737 */
    CHECK(kal_net_listen(&at, &other) == kal_err_not_supported);
}

/* SPEC: NET-5 */
static void each_end_is_the_others_peer(struct kal_endpoint at)
{
    struct kal_net_listener listener = listening(&at);
    struct kal_endpoint here, there;
    struct kal_net_conn ends[2];
    char got[4];

    CHECK(kal_net_connect(&at, &ends[0]) == kal_ok && kal_net_accept(listener, &ends[1]) == kal_ok);
    CHECK(kal_net_peer(ends[0], &there) == kal_ok && memcmp(&there, &at, sizeof at) == 0);
    CHECK(kal_net_local(ends[1], &here) == kal_ok && memcmp(&here, &at, sizeof at) == 0);
    CHECK(kal_net_local(ends[0], &here) == kal_ok && kal_net_peer(ends[1], &there) == kal_ok);
    CHECK(memcmp(&here, &there, sizeof here) == 0 && here.port != 0 && here.port != at.port);
    CHECK(kal_stream_write(stream_of(ends[0]), "abc", 3) == 3 && kal_stream_read(stream_of(ends[1]), got, 4) == 3);
    CHECK(memcmp(got, "abc", 3) == 0);
    for (int i = 0; i < 2; i++)
        kal_net_close(ends[i]);
    kal_net_close_listener(listener);
}

/* SPEC: NET-1, NET-9 */
static void ipv6_is_there_or_not(void)
{
    bool has = (kal_net_props() & KAL_NET_PROP_IPV6) != 0;
    struct kal_endpoint at = v6(0);
    struct kal_net_listener six, four;
    struct kal_net_conn conn;

    CHECK((kal_net_props() & ~(kal_uintptr)KAL_NET_PROP_IPV6) == KAL_NET_PROP_HALFCLOSE);
    if (!has) {
        CHECK(kal_net_listen(&at, &six) == kal_err_not_supported);
        return;
    }
    each_end_is_the_others_peer(v6(0));
    at = (struct kal_endpoint){.addr = {0xfe, 0x80, [15] = 1}, .addr_len = 16, .port = 9}; /* of which interface? */
    CHECK(kal_net_connect(&at, &conn) == kal_err_invalid);
    at = v6(0);
    at.addr_len = 20; /* a scope of 0 is none */
    six = listening(&at);
    CHECK(at.addr_len == 16);
    kal_net_close_listener(six);

    at = (struct kal_endpoint){.addr_len = 16}; /* all addresses of IPv6, and none of IPv4 */
    six = listening(&at);
    at = v4(at.port);
    CHECK(kal_net_connect(&at, &conn) == kal_err_closed);
    four = listening(&at);
    kal_net_close_listener(four);
    kal_net_close_listener(six);
}

/* A port at which nobody listens is among those that the system gives to a connect: in some 28,000 attempts it is given
 * that one, and connects with itself where nobody looks.                                          SPEC: NET-2 */
static void where_nobody_listens_nothing_answers(void)
{
    struct kal_endpoint at = v4(0), nowhere = {.addr = {127, 255, 255, 255}, .addr_len = 4, .port = 9};
    struct kal_net_conn conn = {77};

    kal_net_close_listener(listening(&at));
    for (int i = 0; i < 40000; i++) {
        at.port = 40000 + (kal_u32)(i & 1);
        CHECK(kal_net_connect(&at, &conn) == kal_err_closed);
    }
    CHECK(kal_net_connect(&nowhere, &conn) == kal_err_not_found); /* a broadcast is no place to connect to */
    CHECK(conn.h == 77);
}

struct late {
    struct kal_net_listener listener;
    int taken;
};

static void *accept_late(void *argument)
{
    struct late *late = argument;
    struct kal_net_conn conn;

    pause_ms(100);
    for (int i = 0; i < late->taken; i++) {
        CHECK(kal_net_accept(late->listener, &conn) == kal_ok);
        kal_net_close(conn);
    }
    return NULL;
}

/* The queue of the listener is full, so that a connect waits until the system asks again.          SPEC: NET-2 */
static void a_connect_is_interrupted_and_goes_on(void)
{
    struct kal_endpoint at = v4(0);
    struct late late = {listening(&at), 3};
    struct kal_net_conn conns[3];
    pthread_t acceptor;

    CHECK(listen(descriptor_of(HANDLE_LISTENER, late.listener.h), 0) == 0);
    CHECK(kal_net_connect(&at, &conns[0]) == kal_ok);
    CHECK(pthread_create(&acceptor, NULL, accept_late, &late) == 0);
    interrupt(true);
    CHECK(kal_net_connect(&at, &conns[1]) == kal_ok);
    CHECK(kal_net_connect(&at, &conns[2]) == kal_ok);
    interrupt(false);
    CHECK(pthread_join(acceptor, NULL) == 0);
    for (int i = 0; i < 3; i++)
        kal_net_close(conns[i]);
    kal_net_close_listener(late.listener);
}

static struct kal_net_listener shared;
static int accepted[CONNECTIONS];

static void *accept_some(void *unused)
{
    for (;;) {
        struct kal_net_conn conn;
        unsigned char number;
        int error = kal_net_accept(shared, &conn);

        if (error == kal_err_closed || error == kal_err_invalid)
            return unused;
        CHECK(error == kal_ok && kal_stream_read(stream_of(conn), &number, 1) == 1);
        __atomic_add_fetch(&accepted[number], 1, __ATOMIC_RELAXED);
        CHECK(kal_stream_write(stream_of(conn), &number, 1) == 1);
        kal_net_close(conn);
    }
}

/* SPEC: NET-4, NET-8 */
static void several_tasks_accept_each_connection_once(void)
{
    struct kal_endpoint at = v4(0);
    pthread_t acceptors[ACCEPTORS];
    unsigned char answer;

    shared = listening(&at);
    for (int i = 0; i < ACCEPTORS; i++)
        CHECK(pthread_create(&acceptors[i], NULL, accept_some, NULL) == 0);
    interrupt(true);
    for (unsigned char i = 0; i < CONNECTIONS; i++) {
        struct kal_net_conn conn;

        CHECK(kal_net_connect(&at, &conn) == kal_ok && kal_stream_write(stream_of(conn), &i, 1) == 1);
        CHECK(kal_stream_read(stream_of(conn), &answer, 1) == 1 && answer == i);
        kal_net_close(conn);
    }
    interrupt(false);
    kal_net_close_listener(shared); /* they wait, and wait no longer */
    for (int i = 0; i < ACCEPTORS; i++)
        CHECK(pthread_join(acceptors[i], NULL) == 0);
    for (int i = 0; i < CONNECTIONS; i++)
        CHECK(accepted[i] == 1);
}

/* SPEC: NET-4, NET-5, NET-7 */
static void a_connection_that_is_gone_is_still_the_next(void)
{
    struct kal_endpoint at = v4(0), peer = {.port = 77};
    struct kal_net_listener listener = listening(&at);
    struct kal_net_conn gone, there, first, second;
    char byte;

    CHECK(kal_net_connect(&at, &gone) == kal_ok);
    break_off(gone);
    CHECK(kal_net_connect(&at, &there) == kal_ok && kal_stream_write(stream_of(there), "x", 1) == 1);
    CHECK(kal_net_accept(listener, &first) == kal_ok);
    CHECK(kal_net_accept(listener, &second) == kal_ok);
    CHECK(kal_stream_read(stream_of(first), &byte, 1) == -kal_err_closed);
    CHECK(kal_stream_write(stream_of(first), &byte, 1) == -kal_err_closed);
    CHECK(kal_net_peer(first, &peer) == kal_err_closed && peer.port == 77);
    CHECK(kal_net_shutdown(first, KAL_SHUT_WRITE) == kal_err_closed);
    CHECK(kal_stream_read(stream_of(second), &byte, 1) == 1 && byte == 'x');
    kal_net_close(first);
    kal_net_close(second);
    kal_net_close(there);
    kal_net_close_listener(listener);
}

/* SPEC: NET-2, NET-3, NET-4, NET-9 */
static void without_a_descriptor_nothing_is_lost(void)
{
    struct kal_endpoint at = v4(0), any = v4(0);
    struct kal_net_listener listener = listening(&at), out;
    struct kal_net_conn waiting, conn;
    kal_uintptr props = kal_net_props();
    struct rlimit limit, none;
    char byte;

    CHECK(kal_net_connect(&at, &waiting) == kal_ok && kal_stream_write(stream_of(waiting), "w", 1) == 1);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit, none.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(kal_net_accept(listener, &conn) == kal_err_no_memory);
    CHECK(kal_net_connect(&at, &conn) == kal_err_no_memory);
    CHECK(kal_net_listen(&any, &out) == kal_err_no_memory);
    CHECK(kal_net_props() == props);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(kal_net_accept(listener, &conn) == kal_ok);
    CHECK(kal_stream_read(stream_of(conn), &byte, 1) == 1 && byte == 'w');
    kal_net_close(conn);
    kal_net_close(waiting);
    kal_net_close_listener(listener);
}

int main(void)
{
    alarm(120); /* what waits for good is a failure */
    what_there_is_does_not_depend_on_descriptors();
    what_is_no_endpoint_is_refused();
    an_endpoint_is_an_address_of_the_system();
    words_are_those_that_were_issued();
    a_port_is_taken_until_its_listener_is_closed();
    each_end_is_the_others_peer(v4(0));
    ipv6_is_there_or_not();
    where_nobody_listens_nothing_answers();
    a_connect_is_interrupted_and_goes_on();
    several_tasks_accept_each_connection_once();
    a_connection_that_is_gone_is_still_the_next();
    without_a_descriptor_nothing_is_lost();
    return 0;
}
