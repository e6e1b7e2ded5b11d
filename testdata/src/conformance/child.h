/* An image that starts itself: main(argc, argv) with argv[1] "child" is the program that is started. */
#ifndef CHILD_H
#define CHILD_H

#include "place.h"

#define MOST_VARIABLES 64

/* This program's own environment, for one that is to be as this one. */
struct environment {
    const char* at[MOST_VARIABLES];
    kal_uintptr sizes[MOST_VARIABLES], count;
    char text[16384];
};

static inline void own_environment(struct environment* e)
{
    kal_uintptr used = 0;

    e->count = 0;
    for (kal_uintptr i = 0; i < kal_env_var_count() && e->count < MOST_VARIABLES; i++) {
        char* entry = e->text + used;
        kal_uintptr left = sizeof e->text - used;
        kal_uintptr name = (kal_uintptr)kal_env_var_at(i, entry, left), value;

        if (name >= left)
            break;
        value = (kal_uintptr)kal_env_var(entry, name, entry + name + 1, left - name - 1);
        if (value > left - name - 1)
            break;
        entry[name] = '=';
        e->at[e->count] = entry;
        e->sizes[e->count++] = name + 1 + value;
        used += name + 1 + value;
    }
}

/* Start this image with the words "child", role and word. */
static inline int start_self(const char* self, const char* role, const char* word, const struct kal_spawn* how,
                             const struct kal_spawn_streams* streams, struct kal_process* out)
{
    static struct environment environment;
    const char* argv[] = {self, "child", role, word};
    const kal_uintptr sizes[] = {size_of(self), 5, size_of(role), size_of(word)};

    own_environment(&environment);
    return kal_process_spawn(how, NAME(self), argv, sizes, 4, environment.at, environment.sizes, environment.count,
                             streams, out);
}

/* What comes from a stream until its end; its length, at most cap. */
static inline kal_uintptr read_all(struct kal_stream from, char* to, kal_uintptr cap)
{
    kal_uintptr size = 0;
    kal_intptr n;

    while (size < cap && (n = kal_stream_read(from, to + size, cap - size)) > 0)
        size += (kal_uintptr)n;
    return size;
}

static inline int is_child(int argc, char** argv)
{
    return argc > 3 && size_of(argv[1]) == 5 && same(argv[1], "child", 5);
}

static inline int is_role(char** argv, const char* role)
{
    return size_of(argv[2]) == size_of(role) && same(argv[2], role, size_of(role));
}

#endif
