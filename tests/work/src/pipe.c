/* pipe COUNT TURN: starts COUNT programs, of which every 50th is the image TURN and the others /bin/cat, some at a
 * time, and pipes bytes of its own through each. Status 0 when every byte came back as it should. */
#include <openkal/process.h>

#include "exchange.h"

enum { AT_A_TIME = 10, MANY = 50 };

static struct kal_dir root;

/* One program, and what leads to it and back. */
static struct running {
    struct kal_process process;
    struct kal_stream in, out;
} running[AT_A_TIME];

static kal_uintptr length_of(const char* text)
{
    kal_uintptr n = 0;

    while (text[n])
        n++;
    return n;
}

static void begin(struct running* one, const char* path, kal_u64 n)
{
    const struct kal_spawn how = {.base = root};
    const kal_uintptr length = length_of(path);
    struct kal_spawn_streams streams = {{0}, {0}, {0}};

    need(kal_process_channel(&one->in, &streams.in) == kal_ok, "no channel", n);
    need(kal_process_channel(&one->out, &streams.out) == kal_ok, "no channel", n);
    need(kal_process_spawn(&how, path + 1, length - 1, &path, &length, 1, 0, 0, 0, &streams, &one->process) == kal_ok,
         "no start", n);
    kal_process_channel_close(streams.in);
    kal_process_channel_close(streams.out);
}

static void send_all(struct running* one, kal_u64 n)
{
    kal_u8 bytes[CHUNK];

    for (kal_uintptr at = 0, size; at < LENGTH(n); at += size) {
        size = LENGTH(n) - at < CHUNK ? LENGTH(n) - at : CHUNK;
        for (kal_uintptr i = 0; i < size; i++)
            bytes[i] = BYTE(n, at + i);
        need(kal_stream_write(one->in, bytes, size) == (kal_intptr)size, "not written", n);
    }
    kal_process_channel_close(one->in);
}

static void check_all(struct running* one, kal_u64 n)
{
    const kal_u8 turned = n % MANY == 0 ? 0xff : 0;
    kal_uintptr at = 0;
    kal_u8 bytes[CHUNK];
    kal_intptr got;
    int status = 0, terminated = 0;

    while ((got = kal_stream_read(one->out, bytes, sizeof bytes)) > 0) {
        for (kal_intptr i = 0; i < got; i++, at++)
            need(bytes[i] == (BYTE(n, at) ^ turned), "a wrong byte", n);
    }
    need(got == 0 && at == LENGTH(n), "not all came back", n);
    kal_process_channel_close(one->out);
    need(kal_process_wait(one->process, &status, &terminated) == kal_ok, "no wait", n);
    need(status == 0 && !terminated, "it did not end well", n);
    kal_process_close(one->process);
}

int main(int argc, char** argv)
{
    kal_u64 count = argc == 3 ? number_of(argv[1]) : 0;
    kal_uintptr length;

    need(count % AT_A_TIME == 0 && argc == 3, "arguments", (kal_u64)argc);
    need(kal_fs_preopen(1, &root, 0, 0, &length) == kal_ok, "no root", 0);
    for (kal_u64 n = 0; n < count; n += AT_A_TIME) {
        for (kal_u64 i = 0; i < AT_A_TIME; i++)
            begin(&running[i], (n + i) % MANY == 0 ? argv[2] : "/bin/cat", n + i);
        for (kal_u64 i = 0; i < AT_A_TIME; i++)
            send_all(&running[i], n + i);
        for (kal_u64 i = 0; i < AT_A_TIME; i++)
            check_all(&running[i], n + i);
    }
    return 0;
}
