/* Crashes whose every call stands on a marked line; the last thing that `caller` does is a call that does not return. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define noinline __attribute__((noinline, noclone))

static volatile int sink;

static void handler(int number)
{
    void *frames[32];

    backtrace_symbols_fd(frames, backtrace(frames, 32), 2); /* in handler */
    _exit(number);
}

static noinline __attribute__((noreturn)) void crash(int *place)
{
    *place = 1; /* in crash */
    exit(sink);
}

static noinline __attribute__((noreturn)) void caller(int *place)
{
    sink = 2;
    crash(place); /* in caller */
}

static noinline void after(void)
{
    sink = 3;
}

int main(int argc, char **argv)
{
    int *place = malloc(sizeof *place);

    (void)argv;
    if (argc > 1)
        signal(SIGSEGV, handler);
    after();
    free(place);
    caller(argc > 1 ? NULL : place); /* in main */
}
