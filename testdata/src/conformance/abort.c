/* Nobody comes back from either function: the image starts itself, and looks at how that ends. */
#define INTERFACE "abort"
#include "child.h"

static int says_finalised; /* set in a program that is to end otherwise than by kal_exit */

__attribute__((destructor)) static void finaliser(void)
{
    if (says_finalised)
        kal_stream_write(kal_stderr(), "finalised", 9);
}

static void end_as(char** argv)
{
    int code = 0;

    says_finalised = 1;
    for (const char* digit = argv[3]; *digit; digit++)
        code = code * 10 + *digit - '0';
    if (is_role(argv, "exit"))
        kal_exit(code);
    if (is_role(argv, "negative"))
        kal_exit(-code);
    if (is_role(argv, "abort"))
        kal_abort("why it ends, and no more", 11);
    if (is_role(argv, "silent"))
        kal_abort(0, 0);
}

struct end {
    int error, status, terminated;
    kal_uintptr size;
    char said[200];
};

static const char* self;

static struct end ended(const char* role, const char* word)
{
    struct kal_stream mine = {0}, theirs = {0};
    struct end end = {.error = kal_process_channel(&mine, &theirs)};
    const struct kal_spawn_streams streams = {{0}, {0}, theirs};
    const struct kal_spawn how = {.base = place()};
    struct kal_process process;

    if (end.error == kal_ok)
        end.error = start_self(self, role, word, &how, &streams, &process);
    kal_process_channel_close(theirs);
    if (end.error == kal_ok) {
        end.size = read_all(mine, end.said, sizeof end.said);
        end.error = kal_process_wait(process, &end.status, &end.terminated);
        kal_process_close(process);
    }
    kal_process_channel_close(mine);
    kal_fs_close_dir(how.base);
    return end;
}

static int says(const struct end* end, const char* text)
{
    for (kal_uintptr at = 0; at + size_of(text) <= end->size; at++)
        if (same(end->said + at, text, size_of(text)))
            return 1;
    return 0;
}

static int exits_with(const struct end* end, int status)
{
    return end->error == kal_ok && end->terminated == 0 && end->status == status;
}

int main(int argc, char** argv)
{
    struct end end;

    if (is_child(argc, argv)) {
        end_as(argv);
        return 0;
    }
    self = argv[1];
    end = ended("return", "0");
    CHECK(kal_exit, "main that returns runs the finalisers", exits_with(&end, 0) && says(&end, "finalised"));
    end = ended("exit", "0");
    CHECK(kal_exit, "0 is status 0", exits_with(&end, 0));
    CHECK(kal_exit, "runs no finalisers", end.size == 0);
    end = ended("exit", "255");
    CHECK(kal_exit, "255 is status 255", exits_with(&end, 255));
    end = ended("exit", "259");
    CHECK(kal_exit, "the low eight bits are the status", exits_with(&end, 3));
    end = ended("negative", "1");
    CHECK(kal_exit, "the low eight bits of -1 are 255", exits_with(&end, 255));
    end = ended("abort", "0");
    CHECK(kal_abort, "ends as no program that chose a status", end.error == kal_ok && end.terminated == 1);
    CHECK(kal_abort, "reports the message, as long as it is said to be",
          says(&end, "why it ends") && !says(&end, "and no more"));
    CHECK(kal_abort, "runs no finalisers", !says(&end, "finalised"));
    end = ended("silent", "0");
    CHECK(kal_abort, "no message", end.error == kal_ok && end.terminated == 1);
    kal_exit(summary());
}
