/* Shows what it was given: records that begin with a letter and end with a NUL. a: an argument; v: a variable; d: the
 * name of a directory; and of a directory named "proc": e: its environment, byte for byte, f: where its descriptors
 * lead. */
#include <openkal/env.h>
#include <openkal/fs.h>

#include "../../e2e/src/text.h"

#define MOST 65536

static char text[MOST];

static void record(char letter, const char* bytes, kal_intptr size)
{
    put(&letter, 1);
    put(bytes, size < 0 ? 0 : (kal_uintptr)size);
    put("", 1);
}

static void show_environment(void)
{
    for (kal_uintptr i = 0; i < kal_env_var_count(); i++) {
        kal_intptr name = kal_env_var_at(i, text, MOST), value;

        text[name] = '=';
        value = kal_env_var(text, (kal_uintptr)name, text + name + 1, (kal_uintptr)(MOST - name - 1));
        record('v', text, name + 1 + value);
    }
}

static void show_descriptors(struct kal_dir proc)
{
    struct kal_dir list;
    kal_uintptr iter = 0, length;
    int kind;

    kal_fs_open_dir(proc, "self/fd", 7, &list);
    for (kal_fs_list_begin(list, &iter); iter != 0;) {
        char name[16], target[4096];
        kal_intptr size;

        kal_fs_list_next(list, &iter, name, sizeof name, &length, &kind);
        if (iter == 0)
            break;
        size = kal_fs_link_read(list, name, length, target, sizeof target);
        if (size >= 0)
            record('f', target, size);
    }
}

static void show_process(struct kal_dir proc)
{
    struct kal_file file;
    kal_uintptr size = 0;
    kal_intptr got;

    kal_fs_open(proc, "self/environ", 12, KAL_OPEN_READ, &file);
    while ((got = kal_stream_read(kal_fs_stream(file), text + size, MOST - size)) > 0)
        size += (kal_uintptr)got;
    kal_fs_close_file(file);
    for (kal_uintptr at = 0; at < size; at += size_of(text + at) + 1)
        record('e', text + at, (kal_intptr)size_of(text + at));
    show_descriptors(proc);
}

int main(void)
{
    for (kal_uintptr i = 0; i < kal_env_arg_count(); i++)
        record('a', text, kal_env_arg(i, text, MOST));
    show_environment();
    for (kal_uintptr i = 0; i < kal_fs_preopen_count(); i++) {
        struct kal_dir dir;
        kal_uintptr length;
        char name[4096];

        kal_fs_preopen(i, &dir, name, sizeof name, &length);
        record('d', name, (kal_intptr)length);
        if (length == 4 && name[0] == 'p' && name[1] == 'r')
            show_process(dir);
    }
    return 21;
}
