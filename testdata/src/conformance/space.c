#define INTERFACE "space"
#include "place.h"

static kal_u64 stack[8192] __attribute__((aligned(16)));
static void* const top = stack + 8192;
static volatile int here = 1;
static struct kal_stream mine, theirs;
static struct kal_process last;

static void changes(void* argument)
{
    here = 2;
    kal_exit(*(int*)argument == 7 && here == 2 ? 5 : 6);
}

static void returns(void* argument)
{
    *(int*)argument = 9;
}

static void writes(void* argument)
{
    kal_stream_write(*(struct kal_stream*)argument, "copy", 4);
}

static void sleeps(void* argument)
{
    (void)argument;
    kal_time_sleep(30 * SECOND);
}

static void closes(void* argument)
{
    kal_process_channel_close(*(struct kal_stream*)argument);
}

/* The status of a copy, 1000 more where it was terminated, negated error. */
static int ended(void (*entry)(void*), void* argument)
{
    int status = -1, terminated = -1, error = kal_space_start(entry, argument, top, &last);

    if (error == kal_ok) {
        error = kal_process_wait(last, &status, &terminated);
        kal_process_close(last);
    }
    return error != kal_ok ? -error : status + 1000 * terminated;
}

int main(void)
{
    struct kal_process process = {UNTOUCHED};
    int value = 7, status = -1, terminated = -1;
    char room[8];

    CHECK(kal_space_props, "unassigned positions are 0",
          (kal_space_props() & ~(KAL_SPACE_PROP_CLONE_HANDLES | KAL_SPACE_PROP_DEFERRED_COPY)) == 0);
    CHECK(kal_space_props, "is the same at every call", kal_space_props() == kal_space_props());
    CHECK(kal_space_start, "calls entry(arg) in a copy", ended(changes, &value) == 5);
    CHECK(kal_space_start, "what the copy changes changes nothing here", here == 1);
    CHECK(kal_space_start, "an entry that returns is status 0", ended(returns, &value) == 0 && value == 7);
    CHECK(kal_space_start, "null pointers are kal_err_invalid, and nothing is written",
          kal_space_start(0, 0, top, &process) == kal_err_invalid &&
              kal_space_start(returns, &value, 0, &process) == kal_err_invalid &&
              kal_space_start(returns, &value, top, 0) == kal_err_invalid && process.h == UNTOUCHED);
    CHECK(kal_space_start, "a stack that ends at no multiple of 16 is kal_err_invalid",
          kal_space_start(returns, &value, (char*)top - 8, &process) == kal_err_invalid && process.h == UNTOUCHED);
    if (kal_space_props() & KAL_SPACE_PROP_CLONE_HANDLES) {
        kal_process_channel(&mine, &theirs);
        CHECK(kal_space_start, "handles that are open here are in the copy",
              ended(writes, &theirs) == 0 && kal_stream_read(mine, room, 8) == 4 && same(room, "copy", 4));
        CHECK(kal_space_start, "what the copy closes stays open here",
              ended(closes, &theirs) == 0 && kal_stream_write(theirs, "on", 2) == 2 &&
                  kal_stream_read(mine, room, 8) == 2);
    } else {
        UNOBSERVED(kal_space_start, "handles that are open here are in the copy");
    }
    CHECK(kal_space_start, "a copy can be terminated",
          kal_space_start(sleeps, 0, top, &process) == kal_ok && kal_process_terminate(process) == kal_ok &&
              kal_process_wait(process, &status, &terminated) == kal_ok && terminated == 1);
    kal_process_close(process);
    return summary();
}
