/* Starts and channels; how programs end is in process-ends.c. The file "nonsense", where it is given, may be executed
 * but is no program. */
#define INTERFACE "process"
#include "child.h"

static const char* self;
static struct kal_dir here;
static const struct kal_spawn_streams inherited;

/* Copy the input to the output, then say what was given: directories, arguments, variables. */
static int child(int argc, char** argv)
{
    char byte, text[64] = "";
    kal_uintptr length = 0;
    struct kal_dir dir = {0};

    while (kal_stream_read(kal_stdin(), &byte, 1) == 1)
        kal_stream_write(kal_stdout(), &byte, 1);
    for (kal_uintptr i = 0; kal_fs_preopen(i, &dir, text, sizeof text, &length) == kal_ok; i++) {
        kal_stream_write(kal_stdout(), "|", 1);
        kal_stream_write(kal_stdout(), text, length);
    }
    for (int i = 3; i < argc; i++) {
        kal_stream_write(kal_stdout(), "|", 1);
        kal_stream_write(kal_stdout(), argv[i], size_of(argv[i]));
    }
    for (kal_uintptr i = 0; i < kal_env_var_count(); i++) {
        kal_stream_write(kal_stdout(), "|", 1);
        kal_stream_write(kal_stdout(), text, (kal_uintptr)kal_env_var_at(i, text, sizeof text));
        kal_stream_write(kal_stdout(), "=", 1);
        kal_stream_write(kal_stdout(), text, (kal_uintptr)kal_env_var(NAME("EMPTY"), text, sizeof text));
    }
    return kind_of(dir, "mark") == kal_node_file ? 42 : 41;
}

static void channels(void)
{
    struct kal_stream a = {0}, b = {0}, u = {UNTOUCHED};
    char room[8];

    CHECK(kal_process_channel, "gives two streams", kal_process_channel(&a, &b) == kal_ok && a.h && b.h && a.h != b.h);
    CHECK(kal_process_channel, "what one writes the other reads",
          kal_stream_write(a, "to", 2) == 2 && kal_stream_read(b, room, 8) == 2 && same(room, "to", 2));
    CHECK(kal_process_channel, "and the other way",
          kal_stream_write(b, "fro", 3) == 3 && kal_stream_read(a, room, 8) == 3 && same(room, "fro", 3));
    CHECK(kal_process_channel, "null pointers are kal_err_invalid, and nothing is written",
          kal_process_channel(0, &u) == kal_err_invalid && kal_process_channel(&u, 0) == kal_err_invalid &&
              u.h == UNTOUCHED);
    kal_stream_write(a, "rest", 4);
    kal_process_channel_close(a);
    CHECK(kal_process_channel_close, "the other end reads what was sent, then the end",
          kal_stream_read(b, room, 8) == 4 && kal_stream_read(b, room, 8) == 0);
    CHECK(kal_process_channel_close, "the other end's write is kal_err_closed",
          kal_stream_write(b, "x", 1) == -kal_err_closed);
    CHECK(kal_process_channel_close, "the word is none any more", kal_stream_read(a, room, 8) == -kal_err_invalid);
    REFUSES(kal_process_channel_close, a.h, here.h,
            (kal_process_channel_close((struct kal_stream){word}), kal_stream_read(b, room, 8) == 0));
    kal_process_channel_close(kal_stdout());
    CHECK(kal_process_channel_close, "a stream that is no end of a channel stays",
          kal_stream_write(kal_stdout(), "", 0) == 0);
    kal_process_channel_close(b);
}

static void started(void)
{
    struct kal_file input = made(here, "input", "bytes");
    struct kal_stream mine = {0}, theirs = {0};
    struct kal_process process = {0};
    struct kal_dir granted = {0};
    static const char expected[] = "bytes|one|other|a b||EMPTY=";
    const char *argv[] = {self, "child", "all", "a b", ""}, *envp[] = {"EMPTY="};
    const kal_uintptr sizes[] = {size_of(self), 5, 3, 3, 0}, env_sizes[] = {6};
    char said[64] = "";
    int status = -1, terminated = -1;
    kal_uintptr size;

    kal_fs_seek(input, 0, KAL_SEEK_SET, 0);
    kal_fs_mkdir(here, NAME("granted"));
    kal_fs_open_dir(here, NAME("granted"), &granted);
    kal_fs_close_file(made(granted, "mark", ""));
    kal_process_channel(&mine, &theirs);
    {
        const struct kal_preopen grants[] = {{here, "one", 3}, {granted, "other", 5}};
        const struct kal_spawn how = {.base = here, .work = granted, .grants = grants, .grant_count = 2};
        const struct kal_spawn_streams streams = {kal_fs_stream(input), theirs, {0}};

        CHECK(kal_process_spawn, "starts a program",
              kal_process_spawn(&how, NAME(self), argv, sizes, 5, envp, env_sizes, 1, &streams, &process) == kal_ok &&
                  process.h != 0);
    }
    kal_process_channel_close(theirs);
    size = read_all(mine, said, sizeof said);
    CHECK(kal_process_spawn, "its streams are those that were given", size >= 5 && same(said, "bytes", 5));
    CHECK(kal_process_spawn, "its directories are its grants, in their order",
          size >= 15 && same(said, "bytes|one|other", 15));
    CHECK(kal_process_spawn, "arguments and environment are as given, empty ones kept",
          size == sizeof expected - 1 && same(said, expected, size));
    CHECK(kal_process_wait, "tells the status",
          kal_process_wait(process, &status, &terminated) == kal_ok && status == 42 && terminated == 0);
    kal_process_channel_close(mine);
    kal_process_close(process);
    kal_fs_close_file(input);
    kal_fs_close_dir(granted);
}

static const char* const words[] = {"self", "child", "none", ""};
static const kal_uintptr sizes[] = {4, 5, 4, 0};

/* Whether a request starts nothing, gives this error and leaves the out-pointer. */
static int refused(const struct kal_spawn* how, const char* path, int error)
{
    const char* argv[] = {words[0], words[1], words[2], words[3]};
    struct kal_process process = {UNTOUCHED};

    return kal_process_spawn(how, NAME(path), argv, sizes, 4, 0, 0, 0, &inherited, &process) == error &&
           process.h == UNTOUCHED;
}

/* The same for what only the system can refuse: a program that ends with status 127 stands for it. */
static int refused_at_last(const struct kal_spawn* how, const char* path, int error)
{
    const char* argv[] = {words[0]};
    struct kal_process process = {UNTOUCHED};
    int status = -1, terminated = -1, said;

    said = kal_process_spawn(how, NAME(path), argv, sizes, 1, 0, 0, 0, &inherited, &process);
    if (said != kal_ok)
        return said == error && process.h == UNTOUCHED;
    said = kal_process_wait(process, &status, &terminated);
    kal_process_close(process);
    return said == kal_ok && status == 127 && terminated == 0;
}

static void paths(void)
{
    const struct kal_spawn how = {.base = here};

    kal_fs_close_file(made(here, "plain", "text"));
    CHECK(kal_process_spawn, "an absent one is kal_err_not_found", refused(&how, "absent", kal_err_not_found));
    CHECK(kal_process_spawn, "below a file is kal_err_not_directory", refused(&how, "plain/x", kal_err_not_directory));
    CHECK(kal_process_spawn, "a directory is kal_err_is_directory", refused(&how, "granted", kal_err_is_directory));
    CHECK(kal_process_spawn, "what may not be executed is kal_err_permission, or ends with 127",
          refused_at_last(&how, "plain", kal_err_permission));
    kal_fs_link_create(here, NAME("out"), NAME("../x"), 0);
    CHECK(kal_process_spawn, "what leads out of the base is kal_err_permission",
          refused(&how, "out", kal_err_permission));
    CHECK(kal_process_spawn, "no name is kal_err_invalid",
          refused(&how, "", kal_err_invalid) && refused(&how, "../x", kal_err_invalid) &&
              refused(&how, "/x", kal_err_invalid));
    if (kind_of(here, "nonsense") == kal_node_file)
        CHECK(kal_process_spawn, "what is no program is kal_err_not_supported, or ends with 127",
              refused_at_last(&how, "nonsense", kal_err_not_supported));
    else
        UNOBSERVED(kal_process_spawn, "what is no program is kal_err_not_supported, or ends with 127");
}

static void requests(void)
{
    const char* argv[] = {self, "child", "none", ""};
    const char* with_nul[] = {"a\0b"};
    struct kal_preopen grants[17];
    struct kal_spawn how = {.base = here, .flags = 2};
    struct kal_process out = {UNTOUCHED};
    struct kal_stream mine = {0}, theirs = {0};
    const kal_uintptr sizes_of_all[] = {size_of(self), 5, 4, 0};
    struct kal_spawn_streams nothing = {{0}, {0}, {0}};
    int status = 0, terminated = 0;

    kal_process_channel(&mine, &theirs);
    nothing.out = theirs; /* nobody reads it; the input is at its end */
    for (int i = 0; i < 17; i++)
        grants[i] = (struct kal_preopen){here, "name", 4};
    CHECK(kal_process_spawn, "unknown flags are kal_err_invalid", refused(&how, self, kal_err_invalid));
    how = (struct kal_spawn){.base = here, .grants = grants, .grant_count = 17};
    CHECK(kal_process_spawn, "more than 16 grants are kal_err_invalid", refused(&how, self, kal_err_invalid));
    how.grant_count = 16;
    CHECK(kal_process_spawn, "16 grants",
          kal_process_spawn(&how, NAME(self), argv, sizes_of_all, 4, 0, 0, 0, &nothing, &out) == kal_ok &&
              kal_process_wait(out, &status, &terminated) == kal_ok && !terminated);
    kal_process_close(out);
    kal_process_channel_close(theirs);
    kal_process_channel_close(mine);
    out.h = UNTOUCHED;
    grants[1].name = "";
    grants[1].len = 0;
    how.grant_count = 2;
    CHECK(kal_process_spawn, "a grant without a name is kal_err_invalid", refused(&how, self, kal_err_invalid));
    how.grants = 0;
    CHECK(kal_process_spawn, "null grants with a count are kal_err_invalid", refused(&how, self, kal_err_invalid));
    CHECK(kal_process_spawn, "no request is kal_err_invalid", refused(0, self, kal_err_invalid));
    how = (struct kal_spawn){.base = here};
#define SPAWN(argv, sizes, argc, envp, env_sizes, envc, streams, to)                                                   \
    (kal_process_spawn(&how, NAME(self), argv, sizes, argc, envp, env_sizes, envc, streams, to) == kal_err_invalid &&  \
     out.h == UNTOUCHED)
    CHECK(kal_process_spawn, "a null path is kal_err_invalid",
          kal_process_spawn(&how, 0, 4, argv, sizes, 4, 0, 0, 0, &inherited, &out) == kal_err_invalid);
    CHECK(kal_process_spawn, "no arguments are kal_err_invalid", SPAWN(argv, sizes, 0, 0, 0, 0, &inherited, &out));
    CHECK(kal_process_spawn, "null arguments are kal_err_invalid",
          SPAWN(0, sizes, 4, 0, 0, 0, &inherited, &out) && SPAWN(argv, 0, 4, 0, 0, 0, &inherited, &out));
    CHECK(kal_process_spawn, "a null environment with a count is kal_err_invalid",
          SPAWN(argv, sizes, 4, 0, sizes, 1, &inherited, &out) && SPAWN(argv, sizes, 4, argv, 0, 1, &inherited, &out));
    CHECK(kal_process_spawn, "a text with a NUL is kal_err_invalid",
          SPAWN(with_nul, &(kal_uintptr){3}, 1, 0, 0, 0, &inherited, &out) &&
              SPAWN(argv, sizes, 4, with_nul, &(kal_uintptr){3}, 1, &inherited, &out));
    CHECK(kal_process_spawn, "null streams are kal_err_invalid", SPAWN(argv, sizes, 4, 0, 0, 0, 0, &out));
    CHECK(kal_process_spawn, "a null out-pointer is kal_err_invalid", SPAWN(argv, sizes, 4, 0, 0, 0, &inherited, 0));
    CHECK(kal_process_spawn, "lengths of more than half the address space are kal_err_invalid",
          SPAWN(argv, (&(kal_uintptr){TOO_LONG}), 1, 0, 0, 0, &inherited, &out) &&
              kal_process_spawn(&how, self, TOO_LONG, argv, sizes, 4, 0, 0, 0, &inherited, &out) == kal_err_invalid);
}

static void handles(void)
{
    struct kal_dir closed = {0};
    struct kal_file file = made(here, "plain", "");
    const char* argv[] = {self, "child", "none", ""};

    kal_fs_open_dir(here, ".", 1, &closed);
    kal_fs_close_dir(closed);
    REFUSES(kal_process_spawn, closed.h, file.h, refused(&(struct kal_spawn){.base = {word}}, self, kal_err_invalid));
    {
        const kal_uintptr wrong[] = {~(kal_uintptr)0, closed.h, file.h};
        int work = 1, streams = 1, job = 1, grant = 1;

        for (int i = 0; i < 3; i++) {
            const struct kal_spawn how = {.base = here, .work = {wrong[i]}}, plain = {.base = here},
                                   in_job = {.base = here, .job = &(struct kal_job){wrong[i]}},
                                   granting = {.base = here,
                                               .grants = &(struct kal_preopen){{wrong[i]}, "x", 1},
                                               .grant_count = 1};
            const struct kal_spawn_streams at[] = {
                {{wrong[i]}, {0}, {0}}, {{0}, {wrong[i]}, {0}}, {{0}, {0}, {wrong[i]}}};
            struct kal_process out;

            work &= refused(&how, self, kal_err_invalid);
            job &= refused(&in_job, self, kal_err_invalid);
            grant &= refused(&granting, self, kal_err_invalid);
            for (int which = 0; which < 3; which++)
                streams &=
                    kal_process_spawn(&plain, NAME(self), argv, sizes, 4, 0, 0, 0, &at[which], &out) == kal_err_invalid;
        }
        CHECK(kal_process_spawn, "a working directory that is no open directory is kal_err_invalid", work);
        CHECK(kal_process_spawn, "a job that is none is kal_err_invalid", job);
        CHECK(kal_process_spawn, "a grant that is no open directory is kal_err_invalid", grant);
        CHECK(kal_process_spawn, "a stream that is no open stream is kal_err_invalid", streams);
    }
    kal_fs_close_file(file);
}

int main(int argc, char** argv)
{
    if (is_child(argc, argv))
        return child(argc, argv);
    self = argv[1];
    here = place();
    CHECK(kal_process_props, "unassigned positions are 0", kal_process_props() >> 8 == 0);
    CHECK(kal_process_props, "is the same at every call", kal_process_props() == kal_process_props());
    channels();
    started();
    paths();
    requests();
    handles();
    return summary();
}
