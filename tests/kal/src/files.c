/* Does one thing with files, as the arguments say: COMMAND DIRECTORY NAME [TEXT]; DIRECTORY is a preopen's number.
 *
 * The status is the error; of what there is to say, nothing else is said. */
#include <openkal/env.h>
#include <openkal/fs.h>

#include "../../e2e/src/text.h"

#define ROOM 70000

struct text {
    char at[ROOM];
    kal_uintptr size;
};

static struct text command, directory, name, more, entry;
static struct kal_dir base;

static void line(const char* text, kal_uintptr size)
{
    put(text, size);
    say("\n");
}

static void number(const char* before, kal_u64 value)
{
    say(before);
    say_number(value);
    say("\n");
}

static int take(kal_uintptr index, struct text* out)
{
    kal_intptr size = kal_env_arg(index, out->at, sizeof out->at - 1);

    out->size = size < 0 ? 0 : (kal_uintptr)size;
    out->at[out->size] = 0;
    return size >= 0;
}

static int open_base(kal_uintptr index)
{
    kal_uintptr length;

    return kal_fs_preopen(index, &base, 0, 0, &length);
}

static int given(void)
{
    kal_uintptr length;

    for (kal_uintptr i = 0; i < kal_fs_preopen_count(); i++) {
        int error = kal_fs_preopen(i, &base, entry.at, sizeof entry.at, &length);

        if (error)
            return error;
        line(entry.at, length);
    }
    return kal_fs_preopen(kal_fs_preopen_count(), &base, 0, 0, &length) == kal_err_not_found ? 0 : 99;
}

static int copy(kal_uintptr flags, int out)
{
    static char bytes[8192];
    struct kal_file file;
    kal_intptr n;
    int error = kal_fs_open(base, name.at, name.size, flags, &file);

    if (error)
        return error;
    for (;;) {
        struct kal_stream from = out ? kal_fs_stream(file) : kal_stdin(), to = out ? kal_stdout() : kal_fs_stream(file);

        n = kal_stream_read(from, bytes, sizeof bytes);
        if (n > 0)
            n = kal_stream_write(to, bytes, (kal_uintptr)n);
        if (n <= 0)
            break;
    }
    kal_fs_close_file(file);
    return n < 0 ? (int)-n : 0;
}

static int list(void)
{
    struct kal_dir dir;
    kal_uintptr iter, length;
    int kind, error = kal_fs_open_dir(base, name.at, name.size, &dir);

    if (!error)
        error = kal_fs_list_begin(dir, &iter);
    while (!error) {
        error = kal_fs_list_next(dir, &iter, entry.at, sizeof entry.at, &length, &kind);
        if (error || !iter)
            break;
        say_number((kal_u64)kind);
        say(" ");
        line(entry.at, length);
    }
    kal_fs_close_dir(dir);
    return error;
}

static int info(kal_uintptr flags)
{
    struct kal_node_info node = {.self_size = sizeof node};
    int error = kal_fs_info(base, name.at, name.size, flags, KAL_INFO_ALL, &node);

    if (error)
        return error;
    number("kind ", (kal_u64)node.kind);
    if (node.present != KAL_INFO_ALL)
        return 0;
    number("size ", node.size);
    number("modified ", node.modified_ns);
    number("device ", node.identity[0]);
    number("inode ", node.identity[1]);
    number("writable ", (kal_u64)(node.writable != 0));
    return 0;
}

static int read_link(void)
{
    kal_intptr size = kal_fs_link_read(base, name.at, name.size, entry.at, sizeof entry.at);

    if (size < 0)
        return (int)-size;
    line(entry.at, (kal_uintptr)size);
    return 0;
}

int main(void)
{
    kal_uintptr index = 0;

    take(1, &command), take(2, &directory), take(3, &name), take(4, &more);
    if (same(command.at, "given"))
        return given();
    for (const char* digit = directory.at; *digit; digit++)
        index = 10 * index + (kal_uintptr)(*digit - '0');
    if (open_base(index))
        return 98;
    if (same(command.at, "cat"))
        return copy(KAL_OPEN_READ, 1);
    if (same(command.at, "put"))
        return copy(KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_TRUNCATE, 0);
    if (same(command.at, "append"))
        return copy(KAL_OPEN_WRITE | KAL_OPEN_APPEND, 0);
    if (same(command.at, "list"))
        return list();
    if (same(command.at, "info"))
        return info(0);
    if (same(command.at, "info-itself"))
        return info(KAL_FS_NO_RESOLVE);
    if (same(command.at, "mkdir"))
        return kal_fs_mkdir(base, name.at, name.size);
    if (same(command.at, "remove"))
        return kal_fs_remove(base, name.at, name.size);
    if (same(command.at, "rename"))
        return kal_fs_rename(base, name.at, name.size, base, more.at, more.size);
    if (same(command.at, "link"))
        return kal_fs_link_create(base, name.at, name.size, more.at, more.size, 0);
    if (same(command.at, "read-link"))
        return read_link();
    if (same(command.at, "touch"))
        return kal_fs_set_modified_at(base, name.at, name.size, 1);
    return 97;
}
