#define INTERFACE "datagram"
#include "loopback.h"

static char large[70000];

static kal_intptr received;

static void receives(void* argument)
{
    char byte;

    received = kal_datagram_recv_from(*(struct kal_datagram*)argument, &byte, 1, 0);
}

int main(void)
{
    struct kal_datagram a = {0}, b = {0}, c = {UNTOUCHED}, closed = {0};
    struct kal_endpoint any = v4(0), at_a, at_b, from, wrong = v4(1), six = v6(1), not_ours = {{192, 0, 2, 1}, 4, 0};
    struct kal_task task;
    char room[16];

    CHECK(kal_datagram_props, "unassigned positions are 0",
          (kal_datagram_props() & ~(KAL_DGRAM_PROP_IPV6 | KAL_DGRAM_PROP_BROADCAST)) == 0);
    CHECK(kal_datagram_props, "is the same at every call", kal_datagram_props() == kal_datagram_props());
    CHECK(kal_datagram_open, "at a port that the system chooses",
          kal_datagram_open(&any, &a) == kal_ok && kal_datagram_open(&any, &b) == kal_ok && a.h && b.h && a.h != b.h);
    CHECK(kal_datagram_local, "is the endpoint",
          kal_datagram_local(a, &at_a) == kal_ok && kal_datagram_local(b, &at_b) == kal_ok && is_at(&at_a, &any) &&
              at_a.port && at_a.port != at_b.port);
    CHECK(kal_datagram_local, "a null out-pointer is kal_err_invalid", kal_datagram_local(a, 0) == kal_err_invalid);
    CHECK(kal_datagram_open, "a port that is taken is kal_err_exists", kal_datagram_open(&at_a, &c) == kal_err_exists);
    CHECK(kal_datagram_open, "an address that is not this machine's is kal_err_not_supported",
          kal_datagram_open(&not_ours, &c) == kal_err_not_supported);
    wrong.addr_len = 7;
    CHECK(kal_datagram_open, "an address of 7 bytes is kal_err_invalid",
          kal_datagram_open(&wrong, &c) == kal_err_invalid);
    wrong = v4(65536);
    CHECK(kal_datagram_open, "a port above 65,535 is kal_err_invalid",
          kal_datagram_open(&wrong, &c) == kal_err_invalid);
    CHECK(kal_datagram_open, "a refusal leaves the out-pointer as it was", c.h == UNTOUCHED);
    CHECK(kal_datagram_open, "a null out-pointer is kal_err_invalid", kal_datagram_open(&any, 0) == kal_err_invalid);
    CHECK(kal_datagram_open, "no endpoint is any",
          kal_datagram_open(0, &closed) == kal_ok && kal_datagram_send_to(closed, "x", 1, &at_b) == 1 &&
              kal_datagram_recv_from(b, room, 16, 0) == 1);
    kal_datagram_close(closed);

    CHECK(kal_datagram_send_to, "sends", kal_datagram_send_to(a, "hello", 5, &at_b) == 5);
    CHECK(kal_datagram_recv_from, "receives, and whence",
          kal_datagram_recv_from(b, room, 16, &from) == 5 && same(room, "hello", 5) && is_at(&from, &at_a) &&
              from.port == at_a.port);
    kal_datagram_send_to(a, "first", 5, &at_b);
    kal_datagram_send_to(a, "second", 6, &at_b);
    CHECK(kal_datagram_recv_from, "one at a time; what does not fit is lost",
          kal_datagram_recv_from(b, room, 2, 0) == 2 && same(room, "fi", 2) &&
              kal_datagram_recv_from(b, room, 16, 0) == 6 && same(room, "second", 6));
    CHECK(kal_datagram_send_to, "no bytes are a datagram",
          kal_datagram_send_to(a, 0, 0, &at_b) == 0 && kal_datagram_send_to(a, "y", 1, &at_b) == 1);
    CHECK(kal_datagram_recv_from, "no bytes are a datagram",
          kal_datagram_recv_from(b, room, 16, 0) == 0 && kal_datagram_recv_from(b, room, 16, 0) == 1);
    CHECK(kal_datagram_send_to, "the longest",
          kal_datagram_send_to(a, large, 65507, &at_b) == 65507 &&
              kal_datagram_recv_from(b, large, sizeof large, 0) == 65507);
    CHECK(kal_datagram_send_to, "one byte more is kal_err_invalid",
          kal_datagram_send_to(a, large, 65508, &at_b) == -kal_err_invalid);
    CHECK(kal_datagram_send_to, "null with a length is kal_err_invalid",
          kal_datagram_send_to(a, 0, 1, &at_b) == -kal_err_invalid);
    CHECK(kal_datagram_send_to, "more than half the address space is kal_err_invalid",
          kal_datagram_send_to(a, room, TOO_LONG, &at_b) == -kal_err_invalid);
    CHECK(kal_datagram_send_to, "no endpoint is kal_err_invalid",
          kal_datagram_send_to(a, "x", 1, 0) == -kal_err_invalid &&
              kal_datagram_send_to(a, "x", 1, &wrong) == -kal_err_invalid);
    CHECK(kal_datagram_send_to, "port 0 is kal_err_invalid", kal_datagram_send_to(a, "x", 1, &any) == -kal_err_invalid);
    CHECK(kal_datagram_send_to, "an address of the other family is kal_err_not_supported",
          kal_datagram_send_to(a, "x", 1, &six) == -kal_err_not_supported);
    CHECK(kal_datagram_recv_from, "null with a length is kal_err_invalid",
          kal_datagram_recv_from(b, 0, 1, 0) == -kal_err_invalid);
    CHECK(kal_datagram_recv_from, "more than half the address space is kal_err_invalid",
          kal_datagram_recv_from(b, room, TOO_LONG, 0) == -kal_err_invalid);

    REFUSES(kal_datagram_local, closed.h, kal_stdin().h,
            kal_datagram_local((struct kal_datagram){word}, &from) == kal_err_invalid);
    REFUSES(kal_datagram_send_to, closed.h, kal_stdin().h,
            kal_datagram_send_to((struct kal_datagram){word}, "x", 1, &at_b) == -kal_err_invalid);
    REFUSES(kal_datagram_recv_from, closed.h, kal_stdin().h,
            kal_datagram_recv_from((struct kal_datagram){word}, room, 16, &from) == -kal_err_invalid);
    REFUSES(kal_datagram_close, closed.h, kal_stdin().h,
            (kal_datagram_close((struct kal_datagram){word}), kal_datagram_local(a, &at_a) == kal_ok));
    kal_datagram_close(a);
    CHECK(kal_datagram_close, "its port is free at once", kal_datagram_open(&at_a, &c) == kal_ok);
    kal_task_start(receives, &b, &task);
    kal_time_sleep(100 * MILLISECOND);
    kal_datagram_close(b);
    kal_task_join(task);
    CHECK(kal_datagram_close, "ends a receive of another task with kal_err_closed",
          received == -kal_err_closed || received == -kal_err_invalid);
    kal_datagram_close(c);
    if (kal_datagram_props() & KAL_DGRAM_PROP_IPV6) {
        six.port = 0;
        CHECK(kal_datagram_open, "at an address of 16 bytes",
              kal_datagram_open(&six, &a) == kal_ok && kal_datagram_local(a, &six) == kal_ok && six.addr_len == 16 &&
                  kal_datagram_send_to(a, "x", 1, &six) == 1 && kal_datagram_recv_from(a, room, 16, &from) == 1 &&
                  is_at(&from, &six));
        kal_datagram_close(a);
    } else {
        UNOBSERVED(kal_datagram_open, "at an address of 16 bytes");
    }
    return summary();
}
