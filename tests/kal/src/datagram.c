/* datagram: calls every function of openkal.datagram, and meets each error that the loopback device can give. Status 0,
 * or a line on standard error that says what is not so, and status 1.
 *
 * datagram answer: says `PORT`, a line, on standard output; sends each datagram back to where it came from, until an
 * empty one, which is the last that it sends back. */
#include "sockets.h"

static char bytes[1 << 16];

static struct kal_datagram opened(struct kal_endpoint* at)
{
    struct kal_datagram datagram;

    EXPECT(kal_datagram_open(at, &datagram) == kal_ok && datagram.h != 0);
    EXPECT(kal_datagram_local(datagram, at) == kal_ok && at->port > 0 && at->port < 65536);
    return datagram;
}

static void refusals(void)
{
    struct kal_endpoint at = v4(0), wrong = v4(65536), from;
    struct kal_datagram datagram = opened(&at), out;

    EXPECT(kal_datagram_open(&wrong, &out) == kal_err_invalid);
    EXPECT(kal_datagram_send_to(datagram, "x", 1, &wrong) == -kal_err_invalid);
    wrong = v4(1);
    wrong.addr_len = 7;
    EXPECT(kal_datagram_open(&wrong, &out) == kal_err_invalid && kal_datagram_open(&at, 0) == kal_err_invalid);
    EXPECT(kal_datagram_send_to(datagram, "x", 1, &wrong) == -kal_err_invalid);
    EXPECT(kal_datagram_send_to(datagram, "x", 1, 0) == -kal_err_invalid);
    EXPECT(kal_datagram_send_to(datagram, 0, 1, &at) == -kal_err_invalid);
    EXPECT(kal_datagram_send_to(datagram, bytes, 65508, &at) == -kal_err_invalid); /* by one too long for IPv4 */
    EXPECT(kal_datagram_recv_from(datagram, 0, 1, &from) == -kal_err_invalid);
    EXPECT(kal_datagram_local(datagram, 0) == kal_err_invalid);
    EXPECT(kal_datagram_open(&at, &out) == kal_err_exists);
    for (out.h = 0; out.h < 300; out.h++) {
        EXPECT(kal_datagram_local(out, &from) == kal_err_invalid);
        EXPECT(kal_datagram_send_to(out, "x", 1, &at) == -kal_err_invalid);
        EXPECT(kal_datagram_recv_from(out, bytes, 1, &from) == -kal_err_invalid);
        kal_datagram_close(out);
    }
    kal_datagram_close(datagram);
    EXPECT(kal_datagram_local(datagram, &from) == kal_err_invalid);
    datagram = opened(&at); /* its port is free again */
    kal_datagram_close(datagram);
    wrong = v4(0);
    wrong.addr[0] = 203; /* no machine's own: RFC 5737 */
    wrong.addr[2] = 113;
    EXPECT(kal_datagram_open(&wrong, &out) == kal_err_not_supported);
}

static void there_and_back(struct kal_endpoint near, struct kal_endpoint far)
{
    struct kal_datagram here = opened(&near), there = opened(&far);
    struct kal_endpoint from;

    EXPECT(kal_datagram_send_to(here, "", 0, &far) == 0);
    EXPECT(kal_datagram_send_to(here, "0123456789", 10, &far) == 10);
    EXPECT(kal_datagram_send_to(here, "01234", 5, &far) == 5);
    EXPECT(kal_datagram_recv_from(there, bytes, sizeof bytes, &from) == 0 && same(&from, &near, sizeof near));
    EXPECT(kal_datagram_recv_from(there, bytes, 4, &from) == 4 && same(bytes, "0123", 4)); /* the rest is lost */
    EXPECT(kal_datagram_recv_from(there, bytes, sizeof bytes, 0) == 5 && same(bytes, "01234", 5));
    kal_datagram_close(here);
    kal_datagram_close(there);
}

static void of_two_families(void)
{
    struct kal_endpoint four = v4(0), six = v6(0), from;
    struct kal_datagram four_only = opened(&four), six_only, any;

    EXPECT(kal_datagram_open(0, &any) == kal_ok);
    EXPECT(kal_datagram_send_to(any, "any", 3, &four) == 3);
    EXPECT(kal_datagram_recv_from(four_only, bytes, sizeof bytes, &from) == 3 && from.addr_len == 4);
    if (kal_datagram_props() & KAL_DGRAM_PROP_IPV6) {
        there_and_back(v6(0), v6(0));
        six_only = opened(&six);
        EXPECT(kal_datagram_send_to(four_only, "x", 1, &six) == -kal_err_not_supported);
        EXPECT(kal_datagram_send_to(six_only, "x", 1, &four) == -kal_err_not_supported);
        EXPECT(kal_datagram_send_to(any, "any", 3, &six) == 3);
        EXPECT(kal_datagram_recv_from(six_only, bytes, sizeof bytes, &from) == 3 && from.addr_len == 16);
        kal_datagram_close(six_only);
    }
    kal_datagram_close(any);
    kal_datagram_close(four_only);
}

static void a_broadcast(void)
{
    struct kal_endpoint all = {{0}, 4, 0}, here = v4(0), from;
    struct kal_datagram receiver = opened(&all), sender = opened(&here);
    kal_u32 port = all.port;

    all = v4(port);
    all.addr[1] = all.addr[2] = all.addr[3] = 255;
    EXPECT(kal_datagram_send_to(sender, "all", 3, &all) == 3);
    EXPECT(kal_datagram_recv_from(receiver, bytes, sizeof bytes, &from) == 3 && same(&from, &here, sizeof from));
    kal_datagram_close(receiver);
    kal_datagram_close(sender);
}

static void answer(void)
{
    struct kal_endpoint at = v4(0), from;
    struct kal_datagram datagram = opened(&at);
    kal_intptr got;

    say_number(kal_stdout(), at.port);
    say(kal_stdout(), "\n");
    do {
        got = kal_datagram_recv_from(datagram, bytes, sizeof bytes, &from);
        EXPECT(got >= 0 && kal_datagram_send_to(datagram, bytes, (kal_uintptr)got, &from) == got);
    } while (got > 0);
    kal_datagram_close(datagram);
}

int main(int argc, char** argv)
{
    (void)argv;
    if (argc > 1) {
        answer();
    } else {
        EXPECT((kal_datagram_props() & ~(kal_uintptr)KAL_DGRAM_PROP_IPV6) == KAL_DGRAM_PROP_BROADCAST);
        refusals();
        there_and_back(v4(0), v4(0));
        of_two_families();
        a_broadcast();
    }
    return 0;
}
