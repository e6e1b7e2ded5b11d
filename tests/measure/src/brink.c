/* brink WAY LEFT: calls the host when so many bytes of its stack are left.
 *
 * exit: kal_exit, with status 9. abort: kal_abort. copy: starts a copy, and ends with the status of it, 9. */
#include <openkal/abort.h>
#include <openkal/env.h>
#include <openkal/process.h>
#include <openkal/space.h>
#include <openkal/task.h>

#define SIZE 65536

static _Alignas(16) char stack[SIZE];
static char way[8];

static void leave(void *unused)
{
    (void)unused;
    kal_exit(9);
}

static void go(void)
{
    struct kal_process process;
    int status, terminated;

    if (way[0] == 'e')
        leave(0);
    if (way[0] == 'a')
        kal_abort("", 0);
    if (kal_space_start(leave, 0, stack + SIZE, &process) == kal_ok &&
        kal_process_wait(process, &status, &terminated) == kal_ok)
        kal_exit(status);
    kal_exit(1);
}

__attribute__((noinline)) static void go_at(const char *lowest)
{
    volatile char here[64];

    here[0] = 0;
    if (here < lowest)
        go();
    go_at(lowest);
    here[1] = 1; /* else the call would be a jump, and take no stack */
}

int main(void)
{
    char left[8] = {0};
    kal_uintptr size, most = 0;
    void *lowest;

    if (kal_env_arg(1, way, sizeof way - 1) <= 0 || kal_env_arg(2, left, sizeof left - 1) <= 0 ||
        kal_task_stack(&lowest, &size) != kal_ok)
        return 1;
    for (const char *digit = left; *digit; digit++)
        most = most * 10 + (kal_uintptr)(*digit - '0');
    go_at((const char *)lowest + most);
    return 1;
}
