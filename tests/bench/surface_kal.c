/* The loops of the bench "surface" through openkal: an image. */
#include <openkal/openkal.h>

#include "surface.h"

static char bytes[PAGE];
static struct kal_dir here, root;
static struct kal_file file;
static struct kal_stream stream, near_end, far_end;
static kal_u32 turn;

static count now(void)
{
    return kal_time_monotonic();
}

static void need(int fact)
{
    if (!fact)
        kal_exit(1);
}

static void say(const char *line, count size)
{
    need(kal_stream_write(kal_stdout(), line, size) == (kal_intptr)size);
}

static void open_it(struct kal_dir dir, const char *name, kal_uintptr size, kal_uintptr flags)
{
    need(kal_fs_open(dir, name, size, flags, &file) == kal_ok);
    stream = kal_fs_stream(file);
}

static void open_zero(void)
{
    open_it(root, "dev/zero", 8, KAL_OPEN_READ);
}

static void open_null(void)
{
    open_it(root, "dev/null", 8, KAL_OPEN_WRITE);
}

static void open_file(void)
{
    open_it(here, "file", 4, KAL_OPEN_READ);
}

static void read_bytes(count calls, kal_uintptr size)
{
    while (calls-- > 0)
        need(kal_stream_read(stream, bytes, size) == (kal_intptr)size);
}

static void write_bytes(count calls, kal_uintptr size)
{
    while (calls-- > 0)
        need(kal_stream_write(stream, bytes, size) == (kal_intptr)size);
}

static void read_byte(count calls)
{
    read_bytes(calls, 1);
}

static void read_page(count calls)
{
    read_bytes(calls, PAGE);
}

static void write_byte(count calls)
{
    write_bytes(calls, 1);
}

static void write_page(count calls)
{
    write_bytes(calls, PAGE);
}

static void stat_name(count calls)
{
    const kal_u32 wanted = KAL_INFO_KIND | KAL_INFO_SIZE | KAL_INFO_MODIFIED | KAL_INFO_IDENTITY; /* as stat() says */
    struct kal_node_info info = {.self_size = sizeof info};

    while (calls-- > 0)
        need(kal_fs_info(here, "file", 4, 0, wanted, &info) == kal_ok && info.size == PAGE);
}

static void open_close(count calls)
{
    while (calls-- > 0) {
        struct kal_file opened;

        need(kal_fs_open(here, "file", 4, KAL_OPEN_READ, &opened) == kal_ok);
        kal_fs_close_file(opened);
    }
}

/* Each batch leaves one more, for the reason that surface_libc.c says. */
static void map_unmap(count calls)
{
    void *p;

    need(kal_map_file(file, 0, PAGE, KAL_MAP_READ | KAL_MAP_PRIVATE, &p) == kal_ok);
    while (calls-- > 0) {
        need(kal_map_file(file, 0, PAGE, KAL_MAP_READ, &p) == kal_ok && kal_map_release(p, PAGE) == kal_ok);
    }
}

static void spawn(count calls)
{
    const struct kal_spawn how = {.base = root};
    const struct kal_spawn_streams streams = {{0}, {0}, {0}};
    const char *argv[] = {"true"};
    const kal_uintptr length = 4;

    while (calls-- > 0) {
        int status = 1, terminated = 1;
        struct kal_process process;

        need(kal_process_spawn(&how, "bin/true", 8, argv, &length, 1, 0, 0, 0, &streams, &process) == kal_ok);
        need(kal_process_wait(process, &status, &terminated) == kal_ok && status == 0 && terminated == 0);
        kal_process_close(process);
    }
}

static void pass_to(kal_u32 who)
{
    __atomic_store_n(&turn, who, __ATOMIC_SEQ_CST);
    kal_task_wake(&turn, 1, 0);
}

static void wait_for(kal_u32 who)
{
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != who)
        kal_task_wait(&turn, 1 - who, 0);
}

static void hand_back(void *unused)
{
    (void)unused;
    for (;;) {
        wait_for(1);
        pass_to(0);
    }
}

static void begin_handoff(void)
{
    struct kal_task task;

    need(kal_task_start(hand_back, 0, &task) == kal_ok);
}

static void handoff(count calls)
{
    for (; calls > 0; calls -= calls > 1 ? 2 : 1) {
        pass_to(1);
        wait_for(0);
    }
}

static void echo_back(void *unused)
{
    char byte;

    (void)unused;
    while (kal_stream_read(far_end, &byte, 1) == 1)
        need(kal_stream_write(far_end, &byte, 1) == 1);
}

static void begin_echo(void)
{
    struct kal_endpoint address = {{127, 0, 0, 1}, 4, 0};
    struct kal_net_listener listener;
    struct kal_net_conn mine, theirs;
    struct kal_task task;

    need(kal_net_listen(&address, &listener) == kal_ok && kal_net_listener_local(listener, &address) == kal_ok);
    need(kal_net_connect(&address, &mine) == kal_ok);
    need(kal_net_accept(listener, &theirs) == kal_ok);
    near_end = kal_net_stream(mine);
    far_end = kal_net_stream(theirs);
    need(kal_task_start(echo_back, 0, &task) == kal_ok);
}

static void echo(count calls)
{
    char byte = 'x';

    while (calls-- > 0)
        need(kal_stream_write(near_end, &byte, 1) == 1 && kal_stream_read(near_end, &byte, 1) == 1);
}

int main(int argc, char **argv)
{
    static const struct loop loops[] = {
        {"read-1", open_zero, read_byte},
        {"read-4096", open_zero, read_page},
        {"write-1", open_null, write_byte},
        {"write-4096", open_null, write_page},
        {"stat", 0, stat_name},
        {"open", 0, open_close},
        {"map", open_file, map_unmap},
        {"spawn", 0, spawn},
        {"handoff", begin_handoff, handoff},
        {"echo", begin_echo, echo},
    };
    kal_uintptr length;

    need(kal_fs_preopen(0, &here, 0, 0, &length) == kal_ok && kal_fs_preopen(1, &root, 0, 0, &length) == kal_ok);
    return measure(loops, argc, argv);
}
