/* The directory that an image is given, and files in it. */
#ifndef PLACE_H
#define PLACE_H

#include "conformance.h"

#define NAME(text) (text), size_of(text)

static inline struct kal_dir place(void)
{
    struct kal_dir dir = {0};
    kal_uintptr length;

    kal_fs_preopen(0, &dir, 0, 0, &length);
    return dir;
}

/* A directory that was given under a name, or 0. */
static inline struct kal_dir given(const char* name)
{
    char found[64];
    kal_uintptr length;
    struct kal_dir dir = {0};

    for (kal_uintptr i = 0; i < kal_fs_preopen_count(); i++) {
        if (kal_fs_preopen(i, &dir, found, sizeof found, &length) != kal_ok)
            continue;
        if (length == size_of(name) && same(found, name, length))
            return dir;
        kal_fs_close_dir(dir);
    }
    return (struct kal_dir){0};
}

static inline struct kal_file opened(struct kal_dir dir, const char* name, kal_uintptr flags)
{
    struct kal_file file = {0};

    kal_fs_open(dir, NAME(name), flags, &file);
    return file;
}

/* A new file, to read and write, that holds a text. */
static inline struct kal_file made(struct kal_dir dir, const char* name, const char* text)
{
    struct kal_file file = opened(dir, name, KAL_OPEN_READ | KAL_OPEN_WRITE | KAL_OPEN_CREATE | KAL_OPEN_TRUNCATE);

    kal_stream_write(kal_fs_stream(file), NAME(text));
    return file;
}

static inline int kind_of(struct kal_dir dir, const char* name)
{
    struct kal_node_info info = {.self_size = sizeof info, .kind = -1};

    return kal_fs_info(dir, NAME(name), KAL_FS_NO_RESOLVE, KAL_INFO_KIND, &info) == kal_ok ? info.kind : -1;
}

static inline kal_u64 length_of(struct kal_file file)
{
    struct kal_node_info info = {.self_size = sizeof info};

    kal_fs_file_info(file, KAL_INFO_SIZE, &info);
    return info.size;
}

#endif
