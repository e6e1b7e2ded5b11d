/* peer WAY PORT: connects to a peer who sends five bytes and then, by WAY, closes, resets, or reads some of what is
 * sent to it and closes. peer program: writes to a program that ends. */
#include "faults.h"

static struct kal_stream connect_to(const char* port)
{
    const struct kal_endpoint there = {{127, 0, 0, 1}, 4, (kal_u32)number_of(port)};
    struct kal_net_conn conn;

    EXPECT(kal_net_connect(&there, &conn) == kal_ok);
    return kal_net_stream(conn);
}

/* Write until that is refused; how many bytes were reported written. */
static kal_u64 write_on(struct kal_stream stream)
{
    static char bytes[100000];
    kal_u64 written = 0;
    kal_intptr moved;

    while ((moved = kal_stream_write(stream, bytes, sizeof bytes)) > 0)
        written += (kal_u64)moved;
    EXPECT(moved == -kal_err_closed);
    EXPECT(kal_stream_write(stream, bytes, 1) == -kal_err_closed);
    return written;
}

static void read_greeting(struct kal_stream stream)
{
    char bytes[5];
    kal_intptr got = 0, more;

    while (got < 5) {
        more = kal_stream_read(stream, bytes + got, 5 - (kal_uintptr)got);
        EXPECT(more > 0);
        got += more;
    }
    EXPECT(same(bytes, "hello", 5));
}

static void write_to_a_program(void)
{
    const struct kal_spawn how = {.base = directory(1)};
    const char* argv[] = {"head", "-c5"};
    const kal_uintptr lengths[] = {4, 3};
    struct kal_spawn_streams streams = {{0}, {0}, {0}};
    struct kal_process process;
    struct kal_stream mine;
    int status, terminated;

    EXPECT(kal_process_channel(&mine, &streams.in) == kal_ok);
    EXPECT(kal_process_spawn(&how, "usr/bin/head", 12, argv, lengths, 2, 0, 0, 0, &streams, &process) == kal_ok);
    kal_process_channel_close(streams.in);
    EXPECT(kal_stream_write(mine, "hello", 5) == 5);
    (void)write_on(mine);
    EXPECT(kal_process_wait(process, &status, &terminated) == kal_ok && status == 0 && !terminated);
}

int main(int argc, char** argv)
{
    struct kal_stream stream;
    char byte;

    EXPECT(argc == 3 || (argc == 2 && argv[1][0] == 'p'));
    if (argc == 2) {
        write_to_a_program();
        return 0;
    }
    stream = connect_to(argv[2]);
    read_greeting(stream);
    if (argv[1][0] == 's') { /* some */
        say_number(kal_stdout(), write_on(stream));
        return 0;
    }
    let_it_happen();
    if (argv[1][0] == 'c')
        EXPECT(kal_stream_read(stream, &byte, 1) == 0 && kal_stream_read(stream, &byte, 1) == 0);
    else
        EXPECT(kal_stream_read(stream, &byte, 1) == -kal_err_closed);
    (void)write_on(stream);
    return 0;
}
