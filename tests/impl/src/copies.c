/* A copy of this image writes a line, then it does; each ends by kal_exit. */
#include <openkal/abort.h>
#include <openkal/process.h>
#include <openkal/space.h>

#include "../../e2e/src/text.h"

static char stack[65536] __attribute__((aligned(16)));

static void copy(void* arg)
{
    (void)arg;
    say("copy\n");
    kal_exit(3);
}

int main(void)
{
    struct kal_process process;
    int status = 0, terminated = 0;

    if (kal_space_start(copy, 0, stack + sizeof stack, &process) != kal_ok)
        return 1;
    if (kal_process_wait(process, &status, &terminated) != kal_ok || status != 3 || terminated)
        return 2;
    kal_process_close(process);
    say("maker\n");
    kal_exit(4);
}
