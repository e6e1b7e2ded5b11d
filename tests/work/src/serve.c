/* serve COUNT: says the port that it listens at, a line; serves COUNT connections, each by a task of its own, and says
 * of each, when it has ended, `NUMBER LENGTH ADLER32`, a line: how many bytes came, and their checksum by RFC 1950. */
#include "exchange.h"

MANY_TASKS

static struct serving {
    struct kal_net_conn conn;
    struct kal_task task;
} all[MOST];

static kal_u64 number_at(const kal_u8* bytes)
{
    return bytes[0] | (kal_u64)bytes[1] << 8 | (kal_u64)bytes[2] << 16 | (kal_u64)bytes[3] << 24;
}

static void serve(void* argument)
{
    struct serving* serving = (struct serving*)argument;
    struct kal_stream stream = kal_net_stream(serving->conn);
    kal_u64 length = 0, a = 1, b = 0;
    kal_uintptr at = 0;
    kal_u8 bytes[CHUNK], number[4];
    kal_intptr got;
    char line[80];

    while (at < sizeof number) {
        got = kal_stream_read(stream, number + at, sizeof number - at);
        need(got > 0, "no number", (kal_u64)-got);
        at += (kal_uintptr)got;
    }
    while ((got = kal_stream_read(stream, bytes, sizeof bytes)) > 0) {
        for (kal_intptr i = 0; i < got; i++) {
            a = (a + bytes[i]) % 65521;
            b = (b + a) % 65521;
            bytes[i] = (kal_u8)~bytes[i];
        }
        length += (kal_u64)got;
        need(kal_stream_write(stream, bytes, (kal_uintptr)got) == got, "a write failed", number_at(number));
    }
    need(got == 0, "a read failed", number_at(number));
    at = add_number(line, 0, number_at(number));
    at = add_number(line, at, length);
    at = add_number(line, at, b << 16 | a);
    line[at++] = '\n';
    need(kal_stream_write(kal_stdout(), line, at) == (kal_intptr)at, "no line", number_at(number));
    kal_net_close(serving->conn);
}

int main(int argc, char** argv)
{
    struct kal_endpoint here = {{127, 0, 0, 1}, 4, 0};
    kal_u64 count = argc > 1 ? number_of(argv[1]) : 0;
    struct kal_net_listener listener;
    kal_uintptr size;
    char line[80];
    int error;

    need(count <= MOST, "too many", count);
    error = kal_net_listen(&here, &listener);
    need(error == kal_ok && kal_net_listener_local(listener, &here) == kal_ok, "listen", (kal_u64)error);
    size = add_number(line, 0, here.port);
    line[size++] = '\n';
    kal_stream_write(kal_stdout(), line, size);
    for (kal_u64 i = 0; i < count; i++) {
        error = kal_net_accept(listener, &all[i].conn);
        need(error == kal_ok, "accept", (kal_u64)error);
        error = kal_task_start(serve, &all[i], &all[i].task);
        need(error == kal_ok, "task", (kal_u64)error);
    }
    kal_net_close_listener(listener);
    for (kal_u64 i = 0; i < count; i++)
        need(kal_task_join(all[i].task) == kal_ok, "join", i);
    return 0;
}
