/* Starting a program that lies beneath "/". */
#ifndef START_H
#define START_H

#include <openkal/fs.h>
#include <openkal/process.h>

#include "../../e2e/src/text.h"

#define MOST 64

/* A list of texts with their lengths. */
struct texts {
    const char* at[MOST];
    kal_uintptr lengths[MOST], count;
};

static inline void add(struct texts* texts, const char* text)
{
    texts->at[texts->count] = text;
    texts->lengths[texts->count++] = size_of(text);
}

static inline struct kal_dir directory(kal_uintptr index)
{
    struct kal_dir dir = {0};
    kal_uintptr length;

    kal_fs_preopen(index, &dir, 0, 0, &length);
    return dir;
}

/* The directory of a path that begins at "/". */
static inline struct kal_dir directory_at(const char* path)
{
    struct kal_dir dir = directory(1);

    if (path[1])
        kal_fs_open_dir(directory(1), path + 1, size_of(path) - 1, &dir);
    return dir;
}

static inline int start(const struct kal_spawn* how, const char* path, struct texts* argv, struct texts* envp,
                        const struct kal_spawn_streams* streams, struct kal_process* out)
{
    return kal_process_spawn(how, path + 1, size_of(path) - 1, argv->at, argv->lengths, argv->count, envp->at,
                             envp->lengths, envp->count, streams, out);
}

/* Start a shell that runs a script, with streams or null. */
static inline int start_shell(const char* script, const struct kal_spawn_streams* streams, kal_uintptr flags,
                              struct kal_process* out)
{
    const struct kal_spawn_streams inherited = {{0}, {0}, {0}};
    const struct kal_spawn how = {.base = directory(1), .flags = flags};
    struct texts argv = {.count = 0}, envp = {.count = 0};
    int error;

    add(&argv, "sh");
    add(&argv, "-c");
    add(&argv, script);
    error = start(&how, "/bin/sh", &argv, &envp, streams ? streams : &inherited, out);
    kal_fs_close_dir(how.base);
    return error;
}

/* How it ended: its status, 1000 more for a signal; or the negated error. */
static inline int end_of(struct kal_process process)
{
    int status = 0, terminated = 0, error = kal_process_wait(process, &status, &terminated);

    kal_process_close(process);
    return error != kal_ok ? -error : status + 1000 * terminated;
}

#endif
