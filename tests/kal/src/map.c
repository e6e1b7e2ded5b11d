/* map: calls every function of openkal.map, on a file of its own in the working directory. Status 0, or a line on
 * standard error that says what is not so.
 *
 * map flush: writes a mark through a mapping, flushes it, and is killed.
 * map lost: touches a byte that its file has lost. */
#include "expect.h"

#define SIZE (3 * page + 100)

static kal_uintptr page;
static struct kal_dir here;

static char byte_at(kal_uintptr offset)
{
    return (char)(offset * 7 + offset / 251);
}

static struct kal_file opened(kal_uintptr flags)
{
    struct kal_file file;

    EXPECT(kal_fs_open(here, "bytes", 5, flags, &file) == kal_ok);
    return file;
}

static struct kal_file made(void)
{
    struct kal_file file = opened(KAL_OPEN_READ | KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_TRUNCATE);

    for (kal_uintptr i = 0; i < SIZE; i++) {
        char byte = byte_at(i);

        EXPECT(kal_stream_write(kal_fs_stream(file), &byte, 1) == 1);
    }
    return file;
}

static char* mapped(struct kal_file file, kal_u64 offset, kal_uintptr size, kal_uintptr access)
{
    void* p = 0;

    EXPECT(kal_map_file(file, offset, size, access, &p) == kal_ok && p && (kal_uintptr)p % page == 0);
    return p;
}

static char in_file(struct kal_file file, kal_u64 offset)
{
    kal_u64 at;
    char byte;

    EXPECT(kal_fs_seek(file, (kal_i64)offset, KAL_SEEK_SET, &at) == kal_ok);
    EXPECT(kal_stream_read(kal_fs_stream(file), &byte, 1) == 1);
    return byte;
}

static void accesses(struct kal_file file)
{
    char* shared = mapped(file, page, page, KAL_MAP_READ | KAL_MAP_WRITE);
    char* own = mapped(file, page, page, KAL_MAP_READ | KAL_MAP_PRIVATE);
    char* read = mapped(file, 0, SIZE, KAL_MAP_READ);

    for (kal_uintptr i = 0; i < SIZE; i++)
        EXPECT(read[i] == byte_at(i));
    shared[5] = 'S';
    own[6] = 'P';
    EXPECT(kal_map_flush(shared, page) == kal_ok && kal_map_flush(own + 6, 1) == kal_ok);
    EXPECT(in_file(file, page + 5) == 'S' && read[page + 5] == 'S');
    EXPECT(in_file(file, page + 6) == byte_at(page + 6) && shared[6] == byte_at(page + 6) && own[6] == 'P');
    EXPECT(kal_map_release(shared, page) == kal_ok && kal_map_release(own, page) == kal_ok);
    EXPECT(kal_map_release(shared, page) == kal_err_invalid && kal_map_flush(shared, 1) == kal_err_invalid);
    EXPECT(kal_map_release(read, page) == kal_err_invalid && kal_map_release(read, SIZE) == kal_ok);
}

static int refused(struct kal_file file, kal_u64 offset, kal_uintptr size, kal_uintptr access)
{
    void* p = &p;
    int error = kal_map_file(file, offset, size, access, &p);

    EXPECT(error != kal_ok && p == &p);
    return error;
}

static void wrong_ones(struct kal_file file)
{
    struct kal_file closed = opened(KAL_OPEN_READ), read = opened(KAL_OPEN_READ), write = opened(KAL_OPEN_WRITE);
    struct kal_file none = {kal_fs_stream(file).h};

    kal_fs_close_file(closed);
    EXPECT(refused(closed, 0, page, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(none, 0, page, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(file, 1, page, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(file, 0, 0, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(file, 0, SIZE + 1, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(file, 4 * page, 1, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(file, (kal_u64)0 - page, page, KAL_MAP_READ) == kal_err_invalid);
    EXPECT(refused(file, 0, page, 0) == kal_err_invalid && refused(file, 0, page, KAL_MAP_WRITE) == kal_err_invalid);
    EXPECT(refused(file, 0, page, KAL_MAP_READ | KAL_MAP_WRITE | KAL_MAP_PRIVATE) == kal_err_invalid);
    EXPECT(refused(file, 0, page, KAL_MAP_READ | 8) == kal_err_invalid);
    EXPECT(kal_map_file(file, 0, page, KAL_MAP_READ, 0) == kal_err_invalid);
    EXPECT(refused(read, 0, page, KAL_MAP_READ | KAL_MAP_WRITE) == kal_err_permission);
    EXPECT(refused(write, 0, page, KAL_MAP_READ) == kal_err_permission);
    EXPECT(kal_map_flush(&none, 1) == kal_err_invalid && kal_map_release(&none, 1) == kal_err_invalid);
    kal_fs_close_file(read);
    kal_fs_close_file(write);
}

/* A mapping needs no open file, only one that has its bytes. */
static char* outlived(struct kal_file file)
{
    char* p = mapped(file, 0, SIZE, KAL_MAP_READ | KAL_MAP_WRITE);

    kal_fs_close_file(file);
    EXPECT(p[2 * page] == byte_at(2 * page));
    p[0] = 'C';
    return p;
}

int main(int argc, char** argv)
{
    kal_uintptr length;
    struct kal_file file;
    char* p;

    page = kal_map_granularity();
    EXPECT(page >= 4096 && (page & (page - 1)) == 0 && kal_map_props() == KAL_MAP_PROP_SHARED);
    EXPECT(kal_fs_preopen(0, &here, 0, 0, &length) == kal_ok);
    file = made();
    accesses(file);
    wrong_ones(file);
    p = outlived(file);
    file = opened(KAL_OPEN_READ | KAL_OPEN_WRITE);
    EXPECT(in_file(file, 0) == 'C');
    if (argc > 1 && same(argv[1], "flush", 6)) {
        __builtin_memcpy(p + page, "flushed", 7);
        EXPECT(kal_map_flush(p + page, 7) == kal_ok);
        kal_abort("", 0);
    }
    if (argc > 1) {
        EXPECT(kal_fs_truncate(file, page) == kal_ok && p[page - 1] == byte_at(page - 1));
        *(volatile char*)(p + page) = 1;
    }
    EXPECT(kal_map_release(p, SIZE) == kal_ok);
    return 0;
}
