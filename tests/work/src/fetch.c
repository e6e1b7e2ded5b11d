/* fetch PORT COUNT: opens COUNT connections to 127.0.0.1, and when all are open has tasks send and check what comes
 * back, each a share of them. Status 0 when every byte was right. */
#include "exchange.h"

MANY_TASKS

enum { TASKS = 8 };

static struct kal_net_conn all[MOST];
static kal_u64 count;

static void read_whole(struct kal_stream stream, kal_u8* to, kal_uintptr size, kal_u64 n)
{
    while (size > 0) {
        kal_intptr got = kal_stream_read(stream, to, size);

        need(got > 0, "the answer ended early", n);
        to += got;
        size -= (kal_uintptr)got;
    }
}

static void exchange(kal_u64 n)
{
    const kal_u8 number[4] = {(kal_u8)n, (kal_u8)(n >> 8), (kal_u8)(n >> 16), (kal_u8)(n >> 24)};
    struct kal_stream stream = kal_net_stream(all[n]);
    kal_u8 bytes[CHUNK];

    need(kal_stream_write(stream, number, sizeof number) == sizeof number, "a number was not sent", n);
    for (kal_uintptr at = 0, size; at < LENGTH(n); at += size) {
        size = LENGTH(n) - at < CHUNK ? LENGTH(n) - at : CHUNK;
        for (kal_uintptr i = 0; i < size; i++)
            bytes[i] = BYTE(n, at + i);
        need(kal_stream_write(stream, bytes, size) == (kal_intptr)size, "bytes were not sent", n);
        read_whole(stream, bytes, size, n);
        for (kal_uintptr i = 0; i < size; i++)
            need(bytes[i] == (kal_u8)~BYTE(n, at + i), "a wrong byte came back", n);
    }
    need(kal_net_shutdown(all[n], KAL_SHUT_WRITE) == kal_ok, "shutdown", n);
    need(kal_stream_read(stream, bytes, 1) == 0, "more came back", n);
    kal_net_close(all[n]);
}

static void exchange_share(void* first)
{
    for (kal_u64 n = (kal_uintptr)first; n < count; n += TASKS)
        exchange(n);
}

int main(int argc, char** argv)
{
    struct kal_endpoint there = {{127, 0, 0, 1}, 4, 0};
    struct kal_task tasks[TASKS];

    need(argc == 3, "arguments", (kal_u64)argc);
    there.port = (kal_u32)number_of(argv[1]);
    count = number_of(argv[2]);
    need(count <= MOST, "too many", count);
    for (kal_u64 n = 0; n < count; n++) {
        int error = kal_net_connect(&there, &all[n]);

        need(error == kal_ok, "connect", (kal_u64)error);
    }
    for (kal_uintptr i = 0; i < TASKS; i++)
        need(kal_task_start(exchange_share, (void*)i, &tasks[i]) == kal_ok, "task", i);
    for (kal_uintptr i = 0; i < TASKS; i++)
        need(kal_task_join(tasks[i]) == kal_ok, "join", i);
    return 0;
}
