/* taken removed: uses a file and a directory that are removed meanwhile.
 * taken truncated: reads and writes a file that is emptied meanwhile. */
#include "faults.h"

static struct kal_dir here, folder;
static struct kal_file file;
static struct kal_stream stream;
static char bytes[10];

static void use_what_was_removed(void)
{
    struct kal_node_info info = {.self_size = sizeof info};
    kal_uintptr iter, length;
    struct kal_file other;
    kal_u64 position;
    int kind;

    EXPECT(kal_stream_read(stream, bytes, 5) == 5 && same(bytes, "fghij", 5));
    EXPECT(kal_stream_write(stream, "end", 3) == 3);
    EXPECT(kal_fs_seek(file, 8, KAL_SEEK_SET, &position) == kal_ok && position == 8);
    EXPECT(kal_stream_read(stream, bytes, 10) == 5 && same(bytes, "ijend", 5));
    EXPECT(kal_fs_file_info(file, KAL_INFO_SIZE, &info) == kal_ok && info.size == 13);
    EXPECT(open_file(here, "file", KAL_OPEN_READ, &other) == kal_err_not_found);
    EXPECT(kal_fs_info(here, "file", 4, 0, KAL_INFO_KIND, &info) == kal_ok && info.kind == kal_node_absent);
    EXPECT(kal_fs_remove(here, "file", 4) == kal_err_not_found);

    EXPECT(open_file(folder, "new", KAL_OPEN_WRITE | KAL_OPEN_CREATE, &other) == kal_err_not_found);
    EXPECT(kal_fs_mkdir(folder, "new", 3) == kal_err_not_found);
    EXPECT(kal_fs_list_begin(folder, &iter) == kal_ok);
    EXPECT(kal_fs_list_next(folder, &iter, bytes, sizeof bytes, &length, &kind) == kal_ok && iter == 0);
}

static void use_what_was_emptied(void)
{
    struct kal_node_info info = {.self_size = sizeof info};
    kal_u64 position;
    void* map;

    EXPECT(kal_stream_read(stream, bytes, 5) == 0);
    EXPECT(kal_fs_file_info(file, KAL_INFO_SIZE, &info) == kal_ok && info.size == 0);
    EXPECT(kal_map_file(file, 0, 1, KAL_MAP_READ, &map) == kal_err_invalid);
    EXPECT(kal_fs_seek(file, 0, KAL_SEEK_CURRENT, &position) == kal_ok && position == 5);
    EXPECT(kal_stream_write(stream, "end", 3) == 3);
}

int main(int argc, char** argv)
{
    EXPECT(argc == 2);
    here = directory(0);
    EXPECT(kal_fs_open_dir(here, "folder", 6, &folder) == kal_ok);
    EXPECT(open_file(here, "file", KAL_OPEN_READ | KAL_OPEN_WRITE, &file) == kal_ok);
    stream = kal_fs_stream(file);
    EXPECT(kal_stream_read(stream, bytes, 5) == 5 && same(bytes, "abcde", 5));
    let_it_happen();
    if (argv[1][0] == 'r')
        use_what_was_removed();
    else
        use_what_was_emptied();
    return 0;
}
