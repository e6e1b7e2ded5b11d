/* timeout: calls every function of openkal.timeout, each so that its time passes, and so that it does not. Status 0, or
 * a line on standard error that says what is not so, and status 1.
 *
 * timeout read: reads its input with a bound that passes and says `again`, a line; then with one that does not pass, to
 * the end, and says what came.
 *
 * timeout write: writes letters to its output, which nobody reads, until a bound passes; says on standard error how
 * many it wrote, a line. */
#include "sockets.h"

#define MS ((kal_u64)1000000)
#define HOUR (3600 * 1000 * MS)

static char bytes[1 << 20];
static _Alignas(16) char stack[1 << 16];

static void streams(struct kal_stream stream, struct kal_stream other)
{
    kal_u64 start = kal_time_monotonic();
    kal_intptr moved, more;

    EXPECT(kal_timeout_read(stream, bytes, 8, 20 * MS) == -kal_err_again);
    EXPECT(kal_time_monotonic() - start >= 20 * MS);
    EXPECT(kal_stream_write(other, "abc", 3) == 3 && kal_timeout_read(stream, bytes, 2, HOUR) == 2);
    EXPECT(kal_timeout_read(stream, bytes + 2, 8, HOUR) == 1 && same(bytes, "abc", 3));
    EXPECT(kal_timeout_read(stream, bytes, 0, HOUR) == 0 && kal_timeout_read(stream, 0, 1, MS) == -kal_err_invalid);

    EXPECT(kal_timeout_write(stream, "abc", 3, 1) == 3 && kal_timeout_write(stream, "d", 1, 0) == 1);
    EXPECT(kal_timeout_read(other, bytes, 8, 0) == 4 && kal_timeout_read(other, bytes, 8, 1) == -kal_err_again);
    start = kal_time_monotonic();
    moved = 0;
    while ((more = kal_timeout_write(stream, bytes, sizeof bytes, 20 * MS)) > 0)
        moved += more;
    EXPECT(more == -kal_err_again && moved > 0 && kal_time_monotonic() - start >= 20 * MS);
    EXPECT(kal_timeout_write(stream, 0, 1, MS) == -kal_err_invalid);
    while (moved > 0 && (more = kal_timeout_read(other, bytes, sizeof bytes, HOUR)) > 0)
        moved -= more;
    EXPECT(moved == 0 && kal_timeout_read(other, bytes, sizeof bytes, MS) == -kal_err_again);
}

static void connections(void)
{
    struct kal_endpoint at = v4(0);
    struct kal_net_listener listener;
    struct kal_net_conn near, far;

    EXPECT(kal_net_listen(&at, &listener) == kal_ok && kal_net_listener_local(listener, &at) == kal_ok);
    EXPECT(kal_timeout_accept(listener, 20 * MS, &far) == kal_err_again);
    EXPECT(kal_net_connect(&at, &near) == kal_ok && kal_timeout_accept(listener, 1, &far) == kal_ok);
    streams(kal_net_stream(near), kal_net_stream(far));
    kal_net_close(far);
    EXPECT(kal_timeout_read(kal_net_stream(near), bytes, 1, HOUR) == 0);
    kal_net_close(near);
    EXPECT(kal_net_connect(&at, &near) == kal_ok && kal_timeout_accept(listener, 0, &far) == kal_ok);
    kal_net_close(near);
    kal_net_close(far);
    kal_net_close_listener(listener);
    EXPECT(kal_timeout_accept(listener, MS, &far) == kal_err_invalid);
}

static void datagrams(void)
{
    struct kal_endpoint at = v4(0), from;
    struct kal_datagram datagram;

    EXPECT(kal_datagram_open(&at, &datagram) == kal_ok && kal_datagram_local(datagram, &at) == kal_ok);
    EXPECT(kal_timeout_recv_from(datagram, bytes, 8, &from, 20 * MS) == -kal_err_again);
    for (kal_u64 ns = ~(kal_u64)0;; ns >>= 32) { /* the longest there is, some seconds, none */
        EXPECT(kal_datagram_send_to(datagram, "abc", 3, &at) == 3);
        EXPECT(kal_timeout_recv_from(datagram, bytes, 8, &from, ns) == 3 && same(&from, &at, sizeof at));
        if (ns == 0)
            break;
    }
    kal_datagram_close(datagram);
    EXPECT(kal_timeout_recv_from(datagram, bytes, 8, &from, MS) == -kal_err_invalid);
}

/* In a copy of this program: ends when the other end of the channel is closed. */
static void wait_for_the_end(void* stream)
{
    char byte;

    while (kal_stream_read(*(struct kal_stream*)stream, &byte, 1) == 1 && byte != 'e')
        ;
    kal_exit(33);
}

static void programs(void)
{
    struct kal_stream mine, theirs;
    struct kal_process process;
    int status = 77, terminated = 77;

    EXPECT(kal_process_channel(&mine, &theirs) == kal_ok);
    EXPECT(kal_space_start(wait_for_the_end, &theirs, stack + sizeof stack, &process) == kal_ok);
    EXPECT(kal_timeout_wait_process(process, 20 * MS, &status, &terminated) == kal_err_again);
    EXPECT(status == 77 && terminated == 77 && kal_stream_write(mine, "e", 1) == 1);
    EXPECT(kal_timeout_wait_process(process, HOUR, &status, &terminated) == kal_ok && status == 33 && terminated == 0);
    EXPECT(kal_timeout_wait_process(process, 0, 0, 0) == kal_ok);
    kal_process_close(process);
    EXPECT(kal_timeout_wait_process(process, MS, &status, &terminated) == kal_err_invalid);
    streams(mine, theirs);
    kal_process_channel_close(mine);
    EXPECT(kal_timeout_read(theirs, bytes, 1, HOUR) == 0);
    EXPECT(kal_timeout_write(theirs, "x", 1, HOUR) == -kal_err_closed);
    kal_process_channel_close(theirs);
}

static void read_late(void)
{
    kal_intptr got = kal_timeout_read(kal_stdin(), bytes, sizeof bytes, 50 * MS);

    EXPECT(got == -kal_err_again);
    say(kal_stdout(), "again\n");
    while ((got = kal_timeout_read(kal_stdin(), bytes, sizeof bytes, HOUR)) > 0)
        EXPECT(kal_timeout_write(kal_stdout(), bytes, (kal_uintptr)got, HOUR) == got);
    EXPECT(got == 0);
}

static void write_on(void)
{
    kal_intptr more;
    kal_u64 moved = 0;

    for (kal_uintptr i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('a' + i % 26);
    while ((more = kal_timeout_write(kal_stdout(), bytes + moved % 26, sizeof bytes - 26, 100 * MS)) > 0)
        moved += (kal_u64)more;
    EXPECT(more == -kal_err_again);
    say_number(kal_stderr(), moved);
    say(kal_stderr(), "\n");
}

int main(int argc, char** argv)
{
    if (argc > 1 && argv[1][0] == 'r') {
        read_late();
    } else if (argc > 1) {
        write_on();
    } else {
        EXPECT(kal_timeout_granularity() > 0);
        connections();
        datagrams();
        programs();
    }
    return 0;
}
