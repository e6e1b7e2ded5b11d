/* openkal.process: what a started program gets, and what is refused. */
#include "kal_process.h"

#include <limits.h>
#include <stdint.h>

#define OTHERS 40 /* descriptors that a program inherits by mistake, as a shell or a library leaves them */

static void leak_descriptors(void)
{
    for (int i = 0; i < OTHERS; i++)
        CHECK(open("/dev/null", O_RDWR) > STDERR_FILENO);
}

/* The last of a listing is that of the directory that is listed. */
static void test_descriptors(void)
{
    struct request listing = REQUEST("bin/ls", "ls", "/proc/self/fd");
    char here[PATH_MAX], expected[PATH_MAX + 4];
    struct kal_preopen grants[16];

    leak_descriptors();
    CHECK(strcmp(output_of(listing), "0\n1\n2\n3\n") == 0);
    for (int i = 0; i < 16; i++)
        grants[i] = (struct kal_preopen){preopen(i == 0 ? 1 : 0), "name", 4};
    listing.how.grants = grants;
    listing.how.grant_count = 2;
    CHECK(strcmp(output_of(listing), "0\n1\n2\n3\n4\n5\n") == 0);
    listing = SHELL("readlink /proc/$$/fd/3 /proc/$$/fd/18; [ ! -e /proc/$$/fd/19 ]");
    listing.how.grants = grants;
    listing.how.grant_count = 16;
    CHECK(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "/\n%s\n", here);
    CHECK(strcmp(output_of(listing), expected) == 0);
}

/* Streams that are closed here are closed there, in every combination; the one that is given is there. */
static int closed_streams, given;

static void start_with_closed_streams(void)
{
    char script[160], expected[8];
    struct kal_stream mine, theirs, *streams[3];
    struct request request;
    size_t n = 0;

    for (int i = 0; i < 3; i++) {
        if ((closed_streams >> i & 1) != 0)
            close(i);
        if ((closed_streams >> i & 1) == 0 || i == given)
            expected[n++] = (char)('0' + i);
    }
    expected[n] = '\n';
    expected[n + 1] = 0;
    snprintf(script, sizeof script,
             "s=; for i in 0 1 2 3 4 5 6 7; do [ -e /proc/$$/fd/$i ] && s=$s$i; done; echo $s >&%d", given);
    request = SHELL(script);
    streams[0] = &request.streams.in;
    streams[1] = &request.streams.out;
    streams[2] = &request.streams.err;
    if (kal_process_channel(&mine, &theirs) != kal_ok)
        _exit(2);
    *streams[given] = theirs;
    request.streams.in = given != 0 && (closed_streams & 1) != 0 ? kal_stdin() : request.streams.in;
    if (end_of(started(request)) != 0)
        _exit(3);
    kal_process_channel_close(theirs);
    if (strcmp(rest_of(mine), expected) != 0)
        _exit(4);
}

static void test_closed_streams(void)
{
    for (closed_streams = 0; closed_streams < 8; closed_streams++) {
        for (given = 0; given < 3; given++)
            CHECK(in_process(start_with_closed_streams) == 0);
    }
}

/* Which file each of its streams is, as letters of the files that stand for this program's own: a, b, c. */
static void swap_streams(void)
{
    struct request request =
        SHELL("s=; for i in 0 1 2; do s=$s$(basename $(readlink /proc/$$/fd/$i)); done; echo $s >> seen; exit 7");

    for (int i = 0; i < 3; i++) {
        close(i);
        CHECK(open((const char *[]){"a", "b", "c"}[i], O_RDWR | O_CREAT, 0666) == i);
    }
    request.streams = (struct kal_spawn_streams){kal_stdout(), kal_stdin(), kal_stdout()};
    if (end_of(started(request)) != 7)
        _exit(1);
    request.streams = (struct kal_spawn_streams){kal_stderr(), kal_stderr(), kal_stdin()};
    if (end_of(started(request)) != 7)
        _exit(2);
}

static void test_swapped_streams(void)
{
    char text[32] = "";
    int fd;

    CHECK(in_process(swap_streams) == 0);
    fd = open("seen", O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) == 8 && close(fd) == 0);
    CHECK(strcmp(text, "bab\ncca\n") == 0);
}

/* Compare bytes, NULs among them, with what a program writes. */
static void check_bytes(struct request *request, const char **envp, const kal_uintptr *lengths, kal_uintptr count,
                        const char *expected, size_t size)
{
    struct kal_stream mine, theirs;
    struct kal_process process;
    char text[256];
    size_t n = 0;
    kal_intptr got;

    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    request->streams.out = theirs;
    CHECK(kal_process_spawn(&request->how, request->path, strlen(request->path), request->argv, request->lengths,
                            request->argc, envp, lengths, count, &request->streams, &process) == kal_ok);
    kal_process_channel_close(theirs);
    while ((got = kal_stream_read(mine, text + n, sizeof text - n)) > 0)
        n += (size_t)got;
    CHECK(got == 0 && n == size && memcmp(text, expected, size) == 0);
    kal_process_channel_close(mine);
    CHECK(end_of(process) == 0);
}

static void test_texts(void)
{
    static const char words[] = "a b\0\0=\xff\n\0'\"$x";
    static const char *environment[] = {"A=1", "", "EMPTY=", "A=2", "no equals", "=x", "B=\xfe\n", NULL};
    static const kal_uintptr lengths[] = {3, 0, 6, 3, 9, 2, 4, 0};
    static const char arguments[] = "\0-c\0cat /proc/$$/cmdline\0a b\0\0=\xff\n\0'\"$x";
    static const char variables[] = "A=1\0\0EMPTY=\0A=2\0no equals\0=x\0B=\xfe\n\0";
    struct request request = SHELL("cat /proc/$$/cmdline");

    request.argv[0] = ""; /* its own name, which is empty */
    request.lengths[0] = 0;
    request.argv[3] = "a bX"; /* a length is what counts */
    request.lengths[3] = 3;
    request.argv[4] = NULL;
    request.argv[5] = words + 5;
    request.lengths[5] = 3;
    request.argv[6] = words + 9;
    request.lengths[6] = 4;
    request.argc = 7;
    check_bytes(&request, NULL, NULL, 0, arguments, sizeof arguments);
    request = SHELL("cat /proc/$$/environ");
    check_bytes(&request, environment, lengths, 8, variables, sizeof variables);
    check_bytes(&request, NULL, NULL, 0, "", 0);
}

static void test_work_directory(void)
{
    struct request request = SHELL("pwd -P");
    char here[PATH_MAX], expected[PATH_MAX + 1];

    CHECK(getcwd(here, sizeof here) && mkdir("work", 0777) == 0);
    snprintf(expected, sizeof expected, "%s\n", here);
    CHECK(strcmp(output_of(request), expected) == 0);
    CHECK(kal_fs_open_dir(preopen(0), "work", 4, &request.how.work) == kal_ok);
    snprintf(expected, sizeof expected, "%.4000s/work\n", here);
    CHECK(strcmp(output_of(request), expected) == 0);
    kal_fs_close_dir(request.how.work);
}

/* Every request that this program is told to refuse would make the file "ran". */
static struct request good;
static const char *environment[] = {"A=1"};
static kal_uintptr environment_length = 3;

static int spawn_good(const struct kal_spawn *how, const char *path, const char **argv, const kal_uintptr *lengths,
                      kal_uintptr argc, const struct kal_spawn_streams *streams, struct kal_process *out)
{
    return kal_process_spawn(how, path, path ? strlen(path) : 0, argv, lengths, argc, environment, &environment_length,
                             1, streams, out);
}

static int ask(void)
{
    struct kal_process out = {77};
    int error = spawn_good(&good.how, good.path, good.argv, good.lengths, good.argc, &good.streams, &out);

    CHECK(error == kal_ok || out.h == 77);
    if (error == kal_ok)
        CHECK(end_of(out) == 0);
    return error;
}

/* The request with one thing changed is refused, as it says; without the change it is not. */
#define REFUSED(error, change)                                                                                         \
    do {                                                                                                               \
        struct request before = good;                                                                                  \
        change;                                                                                                        \
        CHECK(ask() == (error) && access("ran", F_OK) != 0 && !has_children());                                        \
        good = before;                                                                                                 \
        environment[0] = "A=1";                                                                                        \
        environment_length = 3;                                                                                        \
    } while (0)

static void test_null_requests(void)
{
    struct request *g = &good;
    struct kal_process out = {77};

    CHECK(spawn_good(NULL, g->path, g->argv, g->lengths, g->argc, &g->streams, &out) == kal_err_invalid);
    CHECK(spawn_good(&g->how, NULL, g->argv, g->lengths, g->argc, &g->streams, &out) == kal_err_invalid);
    CHECK(spawn_good(&g->how, g->path, NULL, g->lengths, g->argc, &g->streams, &out) == kal_err_invalid);
    CHECK(spawn_good(&g->how, g->path, g->argv, NULL, g->argc, &g->streams, &out) == kal_err_invalid);
    CHECK(spawn_good(&g->how, g->path, g->argv, g->lengths, g->argc, NULL, &out) == kal_err_invalid);
    CHECK(spawn_good(&g->how, g->path, g->argv, g->lengths, g->argc, &g->streams, NULL) == kal_err_invalid);
    CHECK(kal_process_spawn(&g->how, g->path, strlen(g->path), g->argv, g->lengths, g->argc, NULL, &environment_length,
                            1, &g->streams, &out) == kal_err_invalid);
    CHECK(kal_process_spawn(&g->how, g->path, strlen(g->path), g->argv, g->lengths, g->argc, environment, NULL, 1,
                            &g->streams, &out) == kal_err_invalid);
    CHECK(out.h == 77 && access("ran", F_OK) != 0 && !has_children());
}

static void test_bad_words(void)
{
    struct kal_preopen grants[17];
    struct kal_job closed;
    struct kal_dir gone;
    struct kal_stream mine, theirs;

    for (int i = 0; i < 17; i++)
        grants[i] = (struct kal_preopen){root(), "name", 4};
    CHECK(kal_process_job_enter(&closed) == kal_ok);
    kal_process_job_close(closed);
    CHECK(kal_fs_open_dir(root(), ".", 1, &gone) == kal_ok);
    kal_fs_close_dir(gone);
    CHECK(kal_process_channel(&mine, &theirs) == kal_ok);
    kal_process_channel_close(mine);
    kal_process_channel_close(theirs);
    REFUSED(kal_err_invalid, good.how.flags = 2);
    REFUSED(kal_err_invalid, good.how.flags = (kal_uintptr)1 << 63);
    REFUSED(kal_err_invalid, good.how.base.h = 0);
    REFUSED(kal_err_invalid, good.how.base = gone);
    REFUSED(kal_err_invalid, good.how.base.h = kal_stdin().h);
    REFUSED(kal_err_invalid, good.how.work = gone);
    REFUSED(kal_err_invalid, good.how.work.h = 3);
    REFUSED(kal_err_invalid, good.how.job = &closed);
    REFUSED(kal_err_invalid, good.streams.in.h = 1);
    REFUSED(kal_err_invalid, good.streams.out = mine);
    REFUSED(kal_err_invalid, good.streams.err.h = root().h);
    REFUSED(kal_err_invalid, good.how.grant_count = 1);
    REFUSED(kal_err_invalid, (good.how.grants = grants, good.how.grant_count = 17));
    REFUSED(kal_err_invalid, (good.how.grants = grants, good.how.grant_count = (kal_uintptr)1 << 60));
    good.how.grants = grants;
    good.how.grant_count = 2;
    REFUSED(kal_err_invalid, grants[1].dir = gone);
    grants[1].dir = root();
    REFUSED(kal_err_invalid, grants[1].name = NULL);
    grants[1].name = "name";
    REFUSED(kal_err_invalid, grants[1].len = 0);
    REFUSED(kal_err_invalid, grants[1].len = PATH_MAX);
    REFUSED(kal_err_invalid, (grants[1].name = "na\0e", grants[1].len = 4));
    good.how.grants = NULL;
    good.how.grant_count = 0;
}

static void test_bad_texts(void)
{
    REFUSED(kal_err_invalid, good.argc = 0);
    REFUSED(kal_err_invalid, good.argc = (kal_uintptr)1 << 60);
    REFUSED(kal_err_invalid, good.argc = UINTPTR_MAX);
    REFUSED(kal_err_invalid, good.lengths[1] = 3); /* with the NUL at its end */
    REFUSED(kal_err_invalid, good.lengths[0] = UINTPTR_MAX);
    REFUSED(kal_err_invalid, good.lengths[0] = (kal_uintptr)1 << 62);
    REFUSED(kal_err_invalid, good.argv[1] = NULL);
    REFUSED(kal_err_invalid, environment_length = 4);
    REFUSED(kal_err_invalid, environment[0] = NULL);
}

static void test_bad_paths(void)
{
    REFUSED(kal_err_invalid, good.path = "");
    REFUSED(kal_err_invalid, good.path = "/bin/sh");
    REFUSED(kal_err_invalid, good.path = "bin/../bin/sh");
    REFUSED(kal_err_not_found, good.path = "bin/no such program");
    REFUSED(kal_err_not_directory, good.path = "bin/sh/sh");
    REFUSED(kal_err_is_directory, good.path = "bin");
    REFUSED(kal_err_is_directory, good.path = ".");
    REFUSED(kal_err_permission, (good.how.base = preopen(0), good.path = "fifo"));
    REFUSED(kal_err_permission, good.path = "dev/null");
    REFUSED(kal_err_permission, (good.how.base = preopen(0), good.path = "outside"));
}

/* A program that would say that it ran. */
static void test_refused(void)
{
    CHECK(mkfifo("fifo", 0666) == 0 && symlink("../../bin/sh", "outside") == 0);
    good = SHELL("> ran");
    test_null_requests();
    test_bad_words();
    test_bad_texts();
    test_bad_paths();
    CHECK(ask() == kal_ok && access("ran", F_OK) == 0);
}

/* A program that there are no descriptors for is not started. */
static void start_with_no_descriptors(void)
{
    struct kal_stream mine, theirs;
    struct kal_process out;
    int last = 0;

    good = SHELL("exit 3");
    while (dup(0) >= 0)
        last++;
    CHECK(errno == EMFILE && last > 0);
    CHECK(start(&good, &out) == kal_err_no_memory && !has_children());
    CHECK(kal_process_channel(&mine, &theirs) == kal_err_no_memory);
}

int main(void)
{
    test_descriptors();
    test_closed_streams();
    test_swapped_streams();
    test_texts();
    test_work_directory();
    test_refused();
    CHECK(in_process(start_with_no_descriptors) == 0);
    return 0;
}
