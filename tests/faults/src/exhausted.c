/* exhausted: takes descriptors until there is none, and sees that whatever needs one says so and does nothing else; one
 * that is given back makes everything work again. */
#include "faults.h"

enum { MOST = 1000 };

static struct kal_dir here;
static struct kal_file files[MOST];

static void nothing_opens(void)
{
    const struct kal_endpoint any = {{127, 0, 0, 1}, 4, 0};
    struct kal_stream mine = {77}, theirs = {77};
    kal_uintptr iter = 77, length;
    struct kal_net_listener listener = {77};
    struct kal_datagram datagram = {77};
    struct kal_net_conn conn = {77};
    struct kal_dir dir = {77};

    EXPECT(kal_fs_open_dir(here, ".", 1, &dir) == kal_err_no_memory && dir.h == 77);
    EXPECT(kal_fs_preopen(0, &dir, 0, 0, &length) == kal_err_no_memory && dir.h == 77);
    EXPECT(kal_fs_list_begin(here, &iter) == kal_err_no_memory && iter == 77);
    EXPECT(kal_process_channel(&mine, &theirs) == kal_err_no_memory && mine.h == 77 && theirs.h == 77);
    EXPECT(kal_net_listen(&any, &listener) == kal_err_no_memory && listener.h == 77);
    EXPECT(kal_net_connect(&any, &conn) == kal_err_no_memory && conn.h == 77);
    EXPECT(kal_datagram_open(&any, &datagram) == kal_err_no_memory && datagram.h == 77);
}

/* What was open before and what needs no descriptor. */
static void what_is_open_works(struct kal_file file)
{
    kal_u64 position;
    kal_u32 bits = 0;
    char byte = 0;
    void* map;

    EXPECT(kal_fs_seek(file, 0, KAL_SEEK_SET, &position) == kal_ok);
    EXPECT(kal_stream_read(kal_fs_stream(file), &byte, 1) == 1 && byte == 'x');
    EXPECT(kal_map_file(file, 0, 1, KAL_MAP_READ, &map) == kal_ok && *(char*)map == 'x');
    EXPECT(kal_map_release(map, 1) == kal_ok);
    EXPECT(kal_random_fill(&bits, sizeof bits) == kal_ok);
}

int main(void)
{
    struct kal_endpoint there = {{127, 0, 0, 1}, 4, 0};
    const struct kal_spawn how = {.base = directory(1)};
    const struct kal_spawn_streams streams = {{0}, {0}, {0}};
    const char* argv[] = {"true"};
    const kal_uintptr length = 4;
    struct kal_process process = {77};
    struct kal_net_listener listener;
    struct kal_net_conn mine, theirs = {77};
    kal_uintptr count = 0;
    int error;

    here = directory(0);
    EXPECT(kal_net_listen(&there, &listener) == kal_ok && kal_net_listener_local(listener, &there) == kal_ok);
    EXPECT(kal_net_connect(&there, &mine) == kal_ok);
    while ((error = open_file(here, "file", KAL_OPEN_READ, &files[count])) == kal_ok)
        EXPECT(++count < MOST);
    EXPECT(error == kal_err_no_memory && count > 10);
    nothing_opens();
    EXPECT(kal_net_accept(listener, &theirs) == kal_err_no_memory && theirs.h == 77);
    EXPECT(kal_process_spawn(&how, "bin/true", 8, argv, &length, 1, 0, 0, 0, &streams, &process) == kal_err_no_memory);
    EXPECT(process.h == 77);
    what_is_open_works(files[0]);

    kal_fs_close_file(files[--count]);
    EXPECT(kal_net_accept(listener, &theirs) == kal_ok);
    EXPECT(kal_stream_write(kal_net_stream(mine), "x", 1) == 1);
    what_is_open_works(files[0]);
    while (count > 0)
        kal_fs_close_file(files[--count]);
    EXPECT(start_nothing(directory(1)) == kal_ok);
    return 0;
}
