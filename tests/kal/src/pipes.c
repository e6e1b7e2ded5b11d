/* Starts 500 programs, one after another, sends to each and reads from each: "500" where each gave back what it got. */
#include "start.h"

#define PROGRAMS 500
#define SIZE 100000 /* more than a channel holds */

static char sent[SIZE], got[SIZE];

static int pass_through(int i)
{
    struct kal_stream in[2], out[2];
    struct kal_spawn_streams streams = {{0}, {0}, {0}};
    struct kal_process process;
    kal_uintptr written = 0, read = 0, size = (kal_uintptr)(i % 10 == 0 ? SIZE : 1 + i);

    if (kal_process_channel(&in[0], &in[1]) != kal_ok || kal_process_channel(&out[0], &out[1]) != kal_ok)
        return 0;
    streams.in = in[1];
    streams.out = out[1];
    if (start_shell("exec cat", &streams, KAL_SPAWN_BOUND_LIFETIME * (kal_uintptr)(i % 2), &process) != kal_ok)
        return 0;
    kal_process_channel_close(in[1]);
    kal_process_channel_close(out[1]);
    for (kal_uintptr at = 0; at < size; at++)
        sent[at] = (char)((kal_uintptr)i * 7 + at * 13);
    for (kal_intptr n; read < size; read += (kal_uintptr)n) {
        kal_uintptr part = size - written < 4096 ? size - written : 4096; /* there is room: what was before is read */

        if (part != 0 && kal_stream_write(in[0], sent + written, part) != (kal_intptr)part)
            return 0;
        written += part;
        if (written == size)
            kal_process_channel_close(in[0]);
        n = kal_stream_read(out[0], got + read, size - read);
        if (n <= 0)
            return 0;
    }
    read = kal_stream_read(out[0], got, 1) == 0;
    kal_process_channel_close(out[0]);
    return read && end_of(process) == 0 && __builtin_memcmp(sent, got, size) == 0;
}

int main(void)
{
    kal_u64 count = 0;

    for (int i = 0; i < PROGRAMS; i++)
        count += (kal_u64)pass_through(i);
    say_number(count);
    say("\n");
    return 0;
}
