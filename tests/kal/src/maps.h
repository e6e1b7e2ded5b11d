/* The kernel's list of this program's mappings. */
#ifndef MAPS_H
#define MAPS_H

#include "expect.h"

struct maps {
    kal_uintptr count;         /* mappings */
    kal_uintptr both;          /* of them writable and executable */
    const char* at;            /* an address that is looked for */
    char permissions[5];       /* of the one that holds it, as "rw-p", or "" */
};

static inline kal_uintptr hexadecimal(const char** at)
{
    kal_uintptr value = 0;

    for (;; (*at)++) {
        if (**at >= '0' && **at <= '9')
            value = value * 16 + (kal_uintptr)(**at - '0');
        else if (**at >= 'a' && **at <= 'f')
            value = value * 16 + (kal_uintptr)(**at - 'a' + 10);
        else
            return value;
    }
}

static inline void add_line(struct maps* maps, const char* line)
{
    kal_uintptr lo = hexadecimal(&line), hi;

    line++; /* "-" */
    hi = hexadecimal(&line);
    line++;
    maps->count++;
    maps->both += line[1] == 'w' && line[2] == 'x';
    if ((kal_uintptr)maps->at >= lo && (kal_uintptr)maps->at < hi)
        __builtin_memcpy(maps->permissions, line, 4);
}

/* Read a file of /proc/self to its end, or to the end of what there is room for; it is text. */
static inline kal_uintptr read_of_self(const char* name, char* to, kal_uintptr room)
{
    kal_uintptr length, size = 0;
    struct kal_dir root, self;
    struct kal_file file;
    kal_intptr got;

    EXPECT(kal_fs_preopen(1, &root, 0, 0, &length) == kal_ok);
    EXPECT(kal_fs_open_dir(root, "proc/self", 9, &self) == kal_ok);
    EXPECT(kal_fs_open(self, name, size_of(name), KAL_OPEN_READ, &file) == kal_ok);
    while ((got = kal_stream_read(kal_fs_stream(file), to + size, room - size - 1)) > 0)
        size += (kal_uintptr)got;
    EXPECT(got == 0 && size < room - 1);
    to[size] = 0;
    kal_fs_close_file(file);
    kal_fs_close_dir(self);
    kal_fs_close_dir(root);
    return size;
}

static inline struct maps maps_with(const void* at)
{
    static char text[1 << 20];
    struct maps maps = {.at = at};
    const char* line = text;

    (void)read_of_self("maps", text, sizeof text);
    while (*line) {
        add_line(&maps, line);
        while (*line++ != '\n')
            ;
    }
    EXPECT(maps.both == 0);
    return maps;
}

/* Whether the mapping that holds an address has these permissions; "": whether none does. */
static inline int is_mapped(const void* at, const char* permissions)
{
    struct maps maps = maps_with(at);

    return size_of(maps.permissions) == size_of(permissions) &&
           __builtin_memcmp(maps.permissions, permissions, size_of(permissions)) == 0;
}

#endif
