/* How programs end: by themselves, by others, with a job, with whom started them. Started programs are this image. */
#define INTERFACE "process"
#include "child.h"

#define LONG (30 * SECOND) /* that a program sleeps which is to be ended before */

static const char* self;
static struct kal_dir here;
static const struct kal_spawn_streams inherited;

/* Start something that sleeps, and has this program's output open. */
static int leaves_a_sleeper(char** argv, kal_uintptr flags, struct kal_job* job)
{
    const struct kal_spawn how = {.base = place(), .flags = flags, .job = job};
    const struct kal_preopen grants[] = {{how.base, "work", 4}};
    struct kal_spawn granting = how;
    struct kal_process process;

    granting.grants = grants;
    granting.grant_count = 1;
    return start_self(argv[0], "sleep", "", &granting, &inherited, &process) == kal_ok;
}

static int child(char** argv)
{
    struct kal_job job = {0};

    if (is_role(argv, "sleep"))
        kal_time_sleep(LONG);
    if (is_role(argv, "bound"))
        return !leaves_a_sleeper(argv, KAL_SPAWN_BOUND_LIFETIME, 0);
    if (is_role(argv, "say"))
        kal_stream_write(kal_stdout(), "said", 4);
    if (is_role(argv, "job")) {
        if (kal_process_job_enter(&job) != kal_ok || !leaves_a_sleeper(argv, 0, &job))
            return 1;
        kal_process_job_terminate(job);
    }
    return 3;
}

/* A started program, its output, and how it ended. */
struct run {
    struct kal_process process;
    struct kal_stream output;
    int status, terminated;
};

static int start(struct run* run, const char* role)
{
    const struct kal_preopen grants[] = {{here, "work", 4}};
    const struct kal_spawn how = {.base = here, .grants = grants, .grant_count = 1};
    struct kal_stream theirs = {0};
    int error;

    *run = (struct run){.status = -1, .terminated = -1};
    error = kal_process_channel(&run->output, &theirs);
    if (error == kal_ok) {
        const struct kal_spawn_streams streams = {{0}, theirs, {0}};

        error = start_self(self, role, "", &how, &streams, &run->process);
    }
    kal_process_channel_close(theirs);
    return error;
}

static int end_of(struct run* run)
{
    return kal_process_wait(run->process, &run->status, &run->terminated);
}

static void finish(struct run* run)
{
    kal_process_channel_close(run->output);
    kal_process_close(run->process);
}

/* Whether all that have the output open end before a sleeper would. */
static int ends_early(struct run* run)
{
    const kal_u64 before = kal_time_monotonic();
    char room[8];

    return read_all(run->output, room, sizeof room) == 0 && kal_time_monotonic() - before < LONG / 2;
}

static void ends(void)
{
    struct run run;
    char room[8];
    struct kal_file file = made(here, "file", "");
    struct kal_process gone;
    int status = -1, terminated = -1;

    start(&run, "return");
    CHECK(kal_process_wait, "tells the status", end_of(&run) == kal_ok && run.status == 3 && run.terminated == 0);
    CHECK(kal_process_wait, "as often as it is asked",
          kal_process_wait(run.process, &status, &terminated) == kal_ok && status == 3 && terminated == 0);
    CHECK(kal_process_wait, "either out-pointer may be null",
          kal_process_wait(run.process, 0, &terminated) == kal_ok &&
              kal_process_wait(run.process, &status, 0) == kal_ok);
    CHECK(kal_process_terminate, "of what has ended is kal_ok, and changes nothing",
          kal_process_terminate(run.process) == kal_ok && end_of(&run) == kal_ok && run.status == 3);
    gone = run.process;
    finish(&run);
    status = terminated = -7;
    REFUSES(kal_process_wait, gone.h, file.h,
            kal_process_wait((struct kal_process){word}, &status, &terminated) == kal_err_invalid && status == -7 &&
                terminated == -7);
    REFUSES(kal_process_terminate, gone.h, file.h,
            kal_process_terminate((struct kal_process){word}) == kal_err_invalid);
    start(&run, "sleep");
    CHECK(kal_process_terminate, "ends it", kal_process_terminate(run.process) == kal_ok && ends_early(&run));
    CHECK(kal_process_wait, "tells that it was ended", end_of(&run) == kal_ok && run.terminated == 1);
    REFUSES(kal_process_close, gone.h, file.h,
            (kal_process_close((struct kal_process){word}), end_of(&run) == kal_ok && length_of(file) == 0));
    finish(&run);
    start(&run, "say");
    kal_process_close(run.process);
    CHECK(kal_process_close, "it runs on", read_all(run.output, room, sizeof room) == 4 && same(room, "said", 4));
    kal_process_channel_close(run.output);
    kal_fs_close_file(file);
}

static void bonds(void)
{
    struct run run;

    if (kal_process_props() & KAL_PROCESS_PROP_BOUND_LIFETIME) {
        start(&run, "bound");
        CHECK(kal_process_spawn, "BOUND_LIFETIME ends with whom started it",
              end_of(&run) == kal_ok && run.status == 0 && ends_early(&run));
        finish(&run);
    } else {
        UNOBSERVED(kal_process_spawn, "BOUND_LIFETIME ends with whom started it");
    }
    if ((kal_process_props() & KAL_PROCESS_PROP_JOB) == 0) {
        UNOBSERVED(kal_process_job_terminate, "ends all of it");
        return;
    }
    start(&run, "job");
    CHECK(kal_process_job_terminate, "ends all of it", end_of(&run) == kal_ok && ends_early(&run));
    CHECK(kal_process_job_terminate, "ends this program, too", run.terminated == 1);
    finish(&run);
}

static void jobs(void)
{
    struct kal_job job = {0}, second = {UNTOUCHED};
    const kal_uintptr another = here.h;

    CHECK(kal_process_job_enter, "a null out-pointer is kal_err_invalid", kal_process_job_enter(0) == kal_err_invalid);
    CHECK(kal_process_job_enter, "makes a job", kal_process_job_enter(&job) == kal_ok && job.h != 0);
    CHECK(kal_process_job_enter, "a program that is in one is kal_err_exists, and nothing is written",
          kal_process_job_enter(&second) == kal_err_exists && second.h == UNTOUCHED);
    {
        const struct kal_job first = job;

        kal_process_job_close(job);
        CHECK(kal_process_job_close, "ends nothing, and the program can make another",
              kal_process_job_enter(&job) == kal_ok && job.h != first.h);
        REFUSES(kal_process_job_terminate, first.h, another,
                kal_process_job_terminate((struct kal_job){word}) == kal_err_invalid);
        REFUSES(kal_process_job_close, first.h, another,
                (kal_process_job_close((struct kal_job){word}), kal_process_job_enter(&second) == kal_err_exists));
    }
    kal_process_job_close(job);
}

int main(int argc, char** argv)
{
    if (is_child(argc, argv))
        return child(argv);
    self = argv[1];
    here = place();
    ends();
    bonds();
    jobs();
    return summary();
}
