/* net: calls every function of openkal.net, and meets each error that the loopback device can give. Status 0, or a line
 * on standard error that says what is not so, and status 1.
 *
 * net call PORT [6]: connects to 127.0.0.1, or to ::1, says `PORT-OF-ITS-OWN PORT-OF-THE-OTHER`, a line; sends its
 * input, closes that direction, and says what comes back.
 *
 * net answer: says `PORT`, a line, on standard output; accepts a connection and sends back what comes, to its end. */
#include "sockets.h"

static char bytes[1 << 16];

static struct kal_net_listener listening(struct kal_endpoint* at)
{
    struct kal_net_listener listener;

    EXPECT(kal_net_listen(at, &listener) == kal_ok && listener.h != 0);
    EXPECT(kal_net_listener_local(listener, at) == kal_ok && at->port > 0 && at->port < 65536);
    return listener;
}

static void endpoints(void)
{
    const kal_u32 lengths[] = {0, 1, 3, 5, 15, 17, 19, 21, 24, 0xffffffff};
    struct kal_endpoint at = v4(1), wrong;
    struct kal_net_listener listener;
    struct kal_net_conn conn;

    for (kal_uintptr i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        wrong = at;
        wrong.addr_len = lengths[i];
        EXPECT(kal_net_connect(&wrong, &conn) == kal_err_invalid);
        EXPECT(kal_net_listen(&wrong, &listener) == kal_err_invalid);
    }
    wrong = at;
    wrong.port = 65536;
    EXPECT(kal_net_connect(&wrong, &conn) == kal_err_invalid && kal_net_listen(&wrong, &listener) == kal_err_invalid);
    EXPECT(kal_net_connect(0, &conn) == kal_err_invalid && kal_net_connect(&at, 0) == kal_err_invalid);
    EXPECT(kal_net_listen(0, &listener) == kal_err_invalid && kal_net_listen(&at, 0) == kal_err_invalid);
    wrong = v4(0);
    wrong.addr[0] = 203; /* no machine's own: RFC 5737 */
    wrong.addr[2] = 113;
    EXPECT(kal_net_listen(&wrong, &listener) == kal_err_not_supported);
    wrong = v4(9);
    wrong.addr[1] = wrong.addr[2] = wrong.addr[3] = 255; /* a broadcast is no place to connect to */
    EXPECT(kal_net_connect(&wrong, &conn) == kal_err_not_found);
}

static void words(struct kal_net_listener listener)
{
    struct kal_endpoint out;
    struct kal_net_conn conn;

    for (kal_uintptr word = 0; word < 300; word++) {
        struct kal_net_conn no_conn = {word};
        struct kal_net_listener no_listener = {word};

        EXPECT(kal_net_stream(no_conn).h == 0 && kal_net_shutdown(no_conn, KAL_SHUT_BOTH) == kal_err_invalid);
        EXPECT(kal_net_peer(no_conn, &out) == kal_err_invalid && kal_net_local(no_conn, &out) == kal_err_invalid);
        EXPECT(kal_net_accept(no_listener, &conn) == kal_err_invalid);
        EXPECT(kal_net_listener_local(no_listener, &out) == kal_err_invalid);
        kal_net_close(no_conn);
        kal_net_close_listener(no_listener);
    }
    conn.h = listener.h; /* of another kind */
    EXPECT(kal_net_local(conn, &out) == kal_err_invalid && kal_net_stream(conn).h == 0);
    EXPECT(kal_net_accept(listener, 0) == kal_err_invalid && kal_net_listener_local(listener, 0) == kal_err_invalid);
}

static void a_connection(struct kal_endpoint at)
{
    struct kal_net_listener listener = listening(&at), taken;
    struct kal_endpoint here, there;
    struct kal_net_conn near, far;
    struct kal_stream in, out;

    words(listener);
    EXPECT(kal_net_listen(&at, &taken) == kal_err_exists);
    EXPECT(kal_net_connect(&at, &near) == kal_ok && kal_net_accept(listener, &far) == kal_ok);
    EXPECT(kal_net_peer(near, &there) == kal_ok && same(&there, &at, sizeof at));
    EXPECT(kal_net_local(near, &here) == kal_ok && kal_net_peer(far, &there) == kal_ok);
    EXPECT(same(&here, &there, sizeof here) && kal_net_peer(near, 0) == kal_err_invalid);

    out = kal_net_stream(near);
    in = kal_net_stream(far);
    EXPECT(kal_stream_write(out, "0123456789", 10) == 10 && kal_stream_read(in, bytes, 4) == 4);
    EXPECT(kal_net_shutdown(near, 0) == kal_err_invalid && kal_net_shutdown(near, 4) == kal_err_invalid);
    EXPECT(kal_net_shutdown(near, KAL_SHUT_WRITE) == kal_ok && kal_stream_write(out, "x", 1) == -kal_err_closed);
    EXPECT(kal_stream_read(in, bytes, sizeof bytes) == 6 && same(bytes, "456789", 6));
    EXPECT(kal_stream_read(in, bytes, sizeof bytes) == 0);
    EXPECT(kal_stream_write(in, "back", 4) == 4 && kal_stream_read(out, bytes, sizeof bytes) == 4);
    EXPECT(kal_net_shutdown(near, KAL_SHUT_READ) == kal_ok && kal_stream_read(out, bytes, sizeof bytes) == 0);

    kal_net_close(near);
    EXPECT(kal_net_stream(near).h == 0 && kal_stream_read(out, bytes, 1) == -kal_err_invalid);
    kal_net_close(far);
    kal_net_close_listener(listener);
    EXPECT(kal_net_accept(listener, &near) == kal_err_invalid && kal_net_connect(&at, &near) == kal_err_closed);
    taken = listening(&at); /* as soon as it is closed, whatever connections it had */
    kal_net_close_listener(taken);
}

/* The other end goes away with bytes unread, which is a reset: no signal ends this program. */
static void a_peer_goes_away(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener = listening(&at);
    struct kal_net_conn near, far;
    kal_intptr moved;

    EXPECT(kal_net_connect(&at, &near) == kal_ok && kal_net_accept(listener, &far) == kal_ok);
    EXPECT(kal_stream_write(kal_net_stream(near), "unread", 6) == 6);
    kal_net_close(far);
    EXPECT(kal_stream_read(kal_net_stream(near), bytes, 1) == -kal_err_closed);
    do
        moved = kal_stream_write(kal_net_stream(near), bytes, sizeof bytes);
    while (moved > 0);
    EXPECT(moved == -kal_err_closed && kal_net_peer(near, &at) == kal_err_closed);
    EXPECT(kal_net_shutdown(near, KAL_SHUT_BOTH) == kal_err_closed);
    kal_net_close(near);
    kal_net_close_listener(listener);
}

static void accept_until_closed(void* listener)
{
    struct kal_net_conn conn;
    int error;

    while ((error = kal_net_accept(*(struct kal_net_listener*)listener, &conn)) == kal_ok) {
        kal_intptr got = kal_stream_read(kal_net_stream(conn), bytes, 1);

        EXPECT(got == 1 && kal_stream_write(kal_net_stream(conn), "y", 1) == 1);
        kal_net_close(conn);
    }
    EXPECT(error == kal_err_closed || error == kal_err_invalid); /* it waited, or came after */
}

static void tasks_accept(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener = listening(&at);
    struct kal_task tasks[4];
    char byte;

    for (int i = 0; i < 4; i++)
        EXPECT(kal_task_start(accept_until_closed, &listener, &tasks[i]) == kal_ok);
    for (int i = 0; i < 50; i++) {
        struct kal_net_conn conn;

        EXPECT(kal_net_connect(&at, &conn) == kal_ok && kal_stream_write(kal_net_stream(conn), "x", 1) == 1);
        EXPECT(kal_stream_read(kal_net_stream(conn), &byte, 1) == 1 && byte == 'y');
        kal_net_close(conn);
    }
    kal_net_close_listener(listener);
    for (int i = 0; i < 4; i++)
        EXPECT(kal_task_join(tasks[i]) == kal_ok);
}

static void copy_all(struct kal_stream from, struct kal_stream to)
{
    kal_intptr got;

    while ((got = kal_stream_read(from, bytes, sizeof bytes)) > 0)
        EXPECT(kal_stream_write(to, bytes, (kal_uintptr)got) == got);
    EXPECT(got == 0);
}

static void call(struct kal_endpoint at)
{
    struct kal_endpoint here, there;
    struct kal_net_conn conn;

    EXPECT(kal_net_connect(&at, &conn) == kal_ok);
    EXPECT(kal_net_local(conn, &here) == kal_ok && kal_net_peer(conn, &there) == kal_ok);
    say_number(kal_stdout(), here.port);
    say(kal_stdout(), " ");
    say_number(kal_stdout(), there.port);
    say(kal_stdout(), "\n");
    copy_all(kal_stdin(), kal_net_stream(conn));
    EXPECT(kal_net_shutdown(conn, KAL_SHUT_WRITE) == kal_ok);
    copy_all(kal_net_stream(conn), kal_stdout());
    kal_net_close(conn);
}

static void answer(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener = listening(&at);
    struct kal_net_conn conn;

    say_number(kal_stdout(), at.port);
    say(kal_stdout(), "\n");
    EXPECT(kal_net_accept(listener, &conn) == kal_ok);
    copy_all(kal_net_stream(conn), kal_net_stream(conn));
    kal_net_close(conn);
    kal_net_close_listener(listener);
}

int main(int argc, char** argv)
{
    if (argc > 2) {
        kal_u32 port = (kal_u32)number_of(argv[2]);

        call(argc > 3 ? v6(port) : v4(port));
    } else if (argc > 1) {
        answer();
    } else {
        EXPECT((kal_net_props() & ~(kal_uintptr)KAL_NET_PROP_IPV6) == KAL_NET_PROP_HALFCLOSE);
        endpoints();
        a_connection(v4(0));
        if (kal_net_props() & KAL_NET_PROP_IPV6)
            a_connection(v6(0));
        a_peer_goes_away();
        tasks_accept();
    }
    return 0;
}
