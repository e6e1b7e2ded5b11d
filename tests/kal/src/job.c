/* Makes a job of itself and a program that has a child of its own, says "ready" when that is there, and ends all of
 * them when it reads a byte. */
#include "start.h"

int main(void)
{
    struct kal_stream mine, theirs;
    struct kal_spawn_streams streams = {{0}, {0}, {0}};
    struct kal_process process;
    struct kal_job job;
    char text[8];

    if (kal_process_channel(&mine, &theirs) != kal_ok || kal_process_job_enter(&job) != kal_ok)
        return 1;
    streams.err = theirs;
    if (start_shell("sleep 1000 2>&- & echo up >&2; wait", &streams, 0, &process) != kal_ok)
        return 2;
    if (kal_stream_read(mine, text, sizeof text) != 3)
        return 3;
    say("ready\n");
    kal_stream_read(kal_stdin(), text, 1);
    kal_process_job_terminate(job);
    return 4;
}
