/* Starts a copy of itself, which calls something and ends with 3; waits for that, says so, and returns 4 at the end of
 * its input. */
#include <openkal/abort.h>
#include <openkal/memory.h>
#include <openkal/process.h>
#include <openkal/prof.h>
#include <openkal/space.h>

#include "text.h"

static char stack[65536] __attribute__((aligned(16)));
static kal_u64 cell = 100;

static void copy(void* unused)
{
    (void)unused;
    kal_prof_phase("copy", 4);
    cell += 7;
    kal_memory_granularity();
    kal_exit(3);
}

int main(void)
{
    struct kal_process process;
    int status = 0, terminated = 0;
    char byte;

    kal_prof_counter("cell", 4, &cell);
    kal_prof_phase("first", 5);
    cell += 5;
    if (kal_space_start(copy, 0, stack + sizeof stack, &process) != kal_ok)
        return 1;
    if (kal_process_wait(process, &status, &terminated) != kal_ok || status != 3 || terminated)
        return 2;
    kal_process_close(process);
    say("copied\n");
    while (kal_stream_read(kal_stdin(), &byte, 1) > 0)
        ;
    return 4;
}
