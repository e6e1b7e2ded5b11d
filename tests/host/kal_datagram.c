/* openkal.datagram of the native host.                                                    SPEC: DGM-1 to DGM-4 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <openkal/datagram.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interrupt.h"
#include "loopback.h"

#define LONGEST_V4 65507 /* 65,535 less the headers of IPv4 and UDP */
#define LONGEST_V6 65527 /* less that of UDP */
#define RECEIVERS 8
#define DATAGRAMS 400

static char large[1 << 17], got[1 << 17];

/* Open one at a port of the system's choice; *at says which. */
static struct kal_datagram opened(struct kal_endpoint *at)
{
    struct kal_datagram datagram;

    CHECK(kal_datagram_open(at, &datagram) == kal_ok);
    CHECK(kal_datagram_local(datagram, at) == kal_ok && at->port != 0);
    return datagram;
}

/* SPEC: NET-1, DGM-1 */
static void what_is_no_endpoint_is_refused(void)
{
    const kal_u32 lengths[] = {0, 1, 3, 5, 15, 17, 19, 21, 24, UINT32_MAX};
    struct kal_endpoint at = v4(0), wrong;
    struct kal_datagram datagram = opened(&at), out = {77};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        wrong = v4(0), wrong.addr_len = lengths[i];
        CHECK(kal_datagram_open(&wrong, &out) == kal_err_invalid);
        CHECK(kal_datagram_send_to(datagram, "x", 1, &wrong) == -kal_err_invalid);
    }
    wrong = v4(65536);
    CHECK(kal_datagram_open(&wrong, &out) == kal_err_invalid);
    CHECK(kal_datagram_send_to(datagram, "x", 1, &wrong) == -kal_err_invalid);
    wrong = v4(0);
    CHECK(kal_datagram_send_to(datagram, "x", 1, &wrong) == -kal_err_invalid); /* nobody has port 0 */
    CHECK(kal_datagram_send_to(datagram, "x", 1, NULL) == -kal_err_invalid);
    CHECK(kal_datagram_open(&wrong, NULL) == kal_err_invalid && kal_datagram_local(datagram, NULL) == kal_err_invalid);
    CHECK(out.h == 77);
    kal_datagram_close(datagram);
}

/* SPEC: DGM-1 */
static void words_are_those_that_were_issued(void)
{
    struct kal_endpoint at = v4(0), untouched = {.port = 77};
    struct kal_datagram datagram = opened(&at), other;
    char byte;

    for (kal_uintptr word = 0; word < 1000; word++)
        CHECK(kal_datagram_local((struct kal_datagram){word}, &untouched) == kal_err_invalid);
    CHECK(kal_stream_write((struct kal_stream){datagram.h}, "x", 1) == -kal_err_invalid); /* it is no stream */
    CHECK(kal_stream_write(handle_stream(datagram.h), "x", 1) == -kal_err_invalid);
    CHECK(kal_net_local((struct kal_net_conn){datagram.h}, &untouched) == kal_err_invalid);
    CHECK(kal_datagram_open(&at, &other) == kal_err_exists);
    kal_net_close((struct kal_net_conn){datagram.h}); /* nothing is done */
    CHECK(kal_datagram_local(datagram, &at) == kal_ok);
    kal_datagram_close(datagram);
    kal_datagram_close(datagram);
    CHECK(kal_datagram_local(datagram, &untouched) == kal_err_invalid && untouched.port == 77);
    CHECK(kal_datagram_send_to(datagram, "x", 1, &at) == -kal_err_invalid);
    CHECK(kal_datagram_recv_from(datagram, &byte, 1, &at) == -kal_err_invalid);
    datagram = opened(&at); /* its port is free again */
    kal_datagram_close(datagram);

    at = (struct kal_endpoint){.addr = {203, 0, 113, 1}, .addr_len = 4}; /* no machine's own: RFC 5737 */
    CHECK(kal_datagram_open(&at, &other) == kal_err_not_supported);
}

/* SPEC: DGM-2, DGM-3 */
static void datagrams_arrive_as_they_were_sent(struct kal_endpoint near, struct kal_endpoint far)
{
    const kal_uintptr lengths[] = {0, 1, 7, 1472, 1473, 9000, LONGEST_V4};
    struct kal_datagram here = opened(&near), there = opened(&far);

    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct kal_endpoint from = {.port = 77};
        kal_intptr length = (kal_intptr)lengths[i];

        CHECK(kal_datagram_send_to(here, lengths[i] ? large : NULL, lengths[i], &far) == length);
        CHECK(kal_datagram_recv_from(there, got, sizeof got, &from) == length);
        CHECK(memcmp(got, large, lengths[i]) == 0 && memcmp(&from, &near, sizeof near) == 0);
    }
    CHECK(kal_datagram_send_to(there, "back", 4, &near) == 4);
    CHECK(kal_datagram_recv_from(here, got, sizeof got, NULL) == 4 && memcmp(got, "back", 4) == 0);
    kal_datagram_close(here);
    kal_datagram_close(there);
}

/* SPEC: DGM-2, DGM-3 */
static void what_is_too_long_is_not_sent_and_what_does_not_fit_is_lost(void)
{
    struct kal_endpoint near = v4(0), far = v4(0), from;
    struct kal_datagram here = opened(&near), there = opened(&far);

    CHECK(kal_datagram_send_to(here, large, LONGEST_V4 + 1, &far) == -kal_err_invalid);
    CHECK(kal_datagram_send_to(here, large, sizeof large, &far) == -kal_err_invalid);
    CHECK(kal_datagram_send_to(here, large, (kal_uintptr)PTRDIFF_MAX + 1, &far) == -kal_err_invalid);
    CHECK(kal_datagram_send_to(here, NULL, 1, &far) == -kal_err_invalid);
    CHECK(kal_datagram_recv_from(there, NULL, 1, &from) == -kal_err_invalid);
    CHECK(kal_datagram_recv_from(there, got, (kal_uintptr)-1, &from) == -kal_err_invalid);

    for (int i = 0; i < 3; i++)
        CHECK(kal_datagram_send_to(here, "0123456789", 10, &far) == 10);
    got[4] = 'z';
    CHECK(kal_datagram_recv_from(there, got, 4, &from) == 4 && memcmp(got, "0123z", 5) == 0);
    CHECK(kal_datagram_recv_from(there, NULL, 0, &from) == 0 && memcmp(&from, &near, sizeof near) == 0);
    CHECK(kal_datagram_recv_from(there, got, sizeof got, &from) == 10); /* the third: each call takes one */
    kal_datagram_close(here);
    kal_datagram_close(there);
}

/* SPEC: DGM-2, DGM-3 */
static void nobody_is_at_the_other_end(void)
{
    struct kal_endpoint near = v4(0), far = v4(0), from;
    struct kal_datagram here = opened(&near);

    kal_datagram_close(opened(&far));
    for (int i = 0; i < 3; i++)
        CHECK(kal_datagram_send_to(here, "x", 1, &far) == 1); /* it is gone, which nobody tells */
    CHECK(kal_datagram_send_to(here, "own", 3, &near) == 3);
    CHECK(kal_datagram_recv_from(here, got, sizeof got, &from) == 3 && from.port == near.port);
    kal_datagram_close(here);
}

/* SPEC: DGM-1, DGM-3 */
static void one_without_an_address_sends_to_any(void)
{
    struct kal_endpoint four = v4(0), six = v6(0), from, own;
    struct kal_datagram any, there = opened(&four);

    CHECK(kal_datagram_open(NULL, &any) == kal_ok && kal_datagram_open(NULL, NULL) == kal_err_invalid);
    CHECK(kal_datagram_local(any, &own) == kal_ok && own.port != 0);
    CHECK(kal_datagram_send_to(any, "four", 4, &four) == 4);
    CHECK(kal_datagram_recv_from(there, got, sizeof got, &from) == 4 && from.addr_len == 4 && from.port == own.port);
    CHECK(kal_datagram_send_to(there, "back", 4, &from) == 4);
    CHECK(kal_datagram_recv_from(any, got, sizeof got, &from) == 4 && memcmp(&from, &four, sizeof four) == 0);
    kal_datagram_close(there);
    if (kal_datagram_props() & KAL_DGRAM_PROP_IPV6) {
        there = opened(&six);
        CHECK(kal_datagram_send_to(any, "six", 3, &six) == 3);
        CHECK(kal_datagram_recv_from(there, got, sizeof got, &from) == 3);
        CHECK(from.addr_len == 16 && from.port == own.port);
        kal_datagram_close(there);
    }
    kal_datagram_close(any);
}

/* SPEC: DGM-1, DGM-2, DGM-4 */
static void ipv6_is_there_or_not(void)
{
    struct kal_endpoint four = v4(0), six = v6(0);
    struct kal_datagram a = opened(&four), b;

    CHECK((kal_datagram_props() & ~(kal_uintptr)KAL_DGRAM_PROP_IPV6) == KAL_DGRAM_PROP_BROADCAST);
    if (kal_datagram_props() & KAL_DGRAM_PROP_IPV6) {
        datagrams_arrive_as_they_were_sent(v6(0), v6(0));
        b = opened(&six);
        CHECK(kal_datagram_send_to(a, "x", 1, &six) == -kal_err_not_supported);
        CHECK(kal_datagram_send_to(b, "x", 1, &four) == -kal_err_not_supported);
        CHECK(kal_datagram_send_to(b, large, LONGEST_V6, &six) == LONGEST_V6);
        CHECK(kal_datagram_send_to(b, large, LONGEST_V6 + 1, &six) == -kal_err_invalid);
        kal_datagram_close(b);
    } else {
        CHECK(kal_datagram_open(&six, &b) == kal_err_not_supported);
    }
    kal_datagram_close(a);
}

/* SPEC: DGM-4 */
static void a_broadcast_arrives(void)
{
    struct kal_endpoint all = {.addr_len = 4}, here = v4(0), from;
    struct kal_datagram receiver = opened(&all), sender = opened(&here);

    all = (struct kal_endpoint){.addr = {127, 255, 255, 255}, .addr_len = 4, .port = all.port};
    CHECK(kal_datagram_send_to(sender, "to all", 6, &all) == 6);
    CHECK(kal_datagram_recv_from(receiver, got, sizeof got, &from) == 6 && memcmp(&from, &here, sizeof from) == 0);
    kal_datagram_close(receiver);
    kal_datagram_close(sender);
}

static struct kal_datagram shared;
static int received[DATAGRAMS], received_all;

static void *receive_some(void *unused)
{
    for (;;) {
        struct kal_endpoint from;
        int number;
        kal_intptr length = kal_datagram_recv_from(shared, &number, sizeof number, &from);

        if (length == -kal_err_closed || length == -kal_err_invalid)
            return unused;
        CHECK(length == sizeof number && from.addr_len == 4 && number >= 0 && number < DATAGRAMS);
        __atomic_add_fetch(&received[number], 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&received_all, 1, __ATOMIC_RELAXED);
    }
}

/* No more are under way than have room.                                                           SPEC: DGM-3, NET-8 */
static void several_tasks_receive_each_datagram_once(void)
{
    struct kal_endpoint at = v4(0);
    pthread_t receivers[RECEIVERS];

    shared = opened(&at);
    for (int i = 0; i < RECEIVERS; i++)
        CHECK(pthread_create(&receivers[i], NULL, receive_some, NULL) == 0);
    interrupt(true);
    for (int i = 0; i < DATAGRAMS; i++) {
        CHECK(kal_datagram_send_to(shared, &i, sizeof i, &at) == sizeof i);
        while (i - __atomic_load_n(&received_all, __ATOMIC_RELAXED) > 16)
            sched_yield();
    }
    while (__atomic_load_n(&received_all, __ATOMIC_RELAXED) < DATAGRAMS)
        sched_yield();
    interrupt(false);
    kal_datagram_close(shared); /* they wait, and wait no longer */
    for (int i = 0; i < RECEIVERS; i++)
        CHECK(pthread_join(receivers[i], NULL) == 0);
    for (int i = 0; i < DATAGRAMS; i++)
        CHECK(received[i] == 1);
}

static void *receive_to_the_end(void *datagram)
{
    struct kal_endpoint from = {.port = 77};
    char byte;

    CHECK(kal_datagram_recv_from(*(struct kal_datagram *)datagram, &byte, 1, &from) == -kal_err_closed);
    CHECK(from.port == 77);
    return NULL;
}

/* SPEC: NET-8 */
static void a_close_ends_a_receive(struct kal_endpoint at)
{
    struct kal_datagram datagram = opened(&at), word = datagram;
    pthread_t receiver;

    CHECK(pthread_create(&receiver, NULL, receive_to_the_end, &word) == 0);
    await_use(HANDLE_DATAGRAM, datagram.h);
    kal_datagram_close(datagram);
    CHECK(pthread_join(receiver, NULL) == 0);
}

/* SPEC: DGM-1, DGM-4, RUN-8 */
static void descriptors_are_few_and_nobodys_else(void)
{
    struct kal_endpoint at = v4(0);
    kal_uintptr props = kal_datagram_props();
    struct rlimit limit, none;
    struct kal_datagram datagram;
    int before = dup(STDIN_FILENO), fd;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit, none.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(kal_datagram_open(&at, &datagram) == kal_err_no_memory);
    CHECK(kal_datagram_open(NULL, &datagram) == kal_err_no_memory);
    CHECK(kal_datagram_props() == props);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);

    close(STDIN_FILENO);
    datagram = opened(&at);
    fd = descriptor_of(HANDLE_DATAGRAM, datagram.h);
    CHECK(fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(dup2(before, STDIN_FILENO) == STDIN_FILENO);
    close(before);
    kal_datagram_close(datagram);
    CHECK(fcntl(fd, F_GETFD) == -1 && errno == EBADF);
}

int main(void)
{
    alarm(120); /* what waits for good is a failure */
    what_is_no_endpoint_is_refused();
    words_are_those_that_were_issued();
    datagrams_arrive_as_they_were_sent(v4(0), v4(0));
    what_is_too_long_is_not_sent_and_what_does_not_fit_is_lost();
    nobody_is_at_the_other_end();
    one_without_an_address_sends_to_any();
    ipv6_is_there_or_not();
    a_broadcast_arrives();
    several_tasks_receive_each_datagram_once();
    a_close_ends_a_receive(v4(0));
    if (kal_datagram_props() & KAL_DGRAM_PROP_IPV6)
        a_close_ends_a_receive(v6(0));
    descriptors_are_few_and_nobodys_else();
    return 0;
}
