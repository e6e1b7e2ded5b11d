/* What the images of this room share: EXPECT, the working directory, and a wait for the test. */
#ifndef FAULTS_H
#define FAULTS_H

#include <openkal/openkal.h>

#include "../../kal/src/expect.h"

static inline struct kal_dir directory(kal_uintptr index)
{
    struct kal_dir dir;
    kal_uintptr length;

    EXPECT(kal_fs_preopen(index, &dir, 0, 0, &length) == kal_ok);
    return dir;
}

static inline int open_file(struct kal_dir dir, const char* name, kal_uintptr flags, struct kal_file* out)
{
    return kal_fs_open(dir, name, size_of(name), flags, out);
}

/* Tell the test that it is time, and wait until it has done its part. */
static inline void let_it_happen(void)
{
    char byte;

    say(kal_stdout(), "now\n");
    EXPECT(kal_stream_read(kal_stdin(), &byte, 1) == 1);
}

/* Start a program with nothing to do, and wait for its end; root is the directory "/". */
static inline int start_nothing(struct kal_dir root)
{
    const struct kal_spawn how = {.base = root};
    const struct kal_spawn_streams streams = {{0}, {0}, {0}};
    const char* argv[] = {"true"};
    const kal_uintptr length = 4;
    struct kal_process process;
    int status, terminated;
    int error = kal_process_spawn(&how, "bin/true", 8, argv, &length, 1, 0, 0, 0, &streams, &process);

    if (error != kal_ok)
        return error;
    EXPECT(kal_process_wait(process, &status, &terminated) == kal_ok && status == 0 && terminated == 0);
    kal_process_close(process);
    return kal_ok;
}

#endif
