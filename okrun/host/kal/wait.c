#define _GNU_SOURCE
#include "wait.h"

#include <time.h>

#include "sys.h"

#define SECOND UINT64_C(1000000000)

static kal_u64 now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (kal_u64)t.tv_sec * SECOND + (kal_u64)t.tv_nsec;
}

wait_end wait_until(kal_u64 ns)
{
    kal_u64 start = ns != 0 ? now() : 0;

    return ns == 0 || ns >= UINT64_MAX - start ? WAIT_FOREVER : start + ns;
}

bool wait_is_over(wait_end end)
{
    return end != WAIT_FOREVER && now() >= end;
}

int wait_for(int fd, short events, wait_end end)
{
    struct pollfd one = {.fd = fd, .events = events};

    for (;;) {
        struct timespec left, *bound = NULL;
        int ready;

        if (end != WAIT_FOREVER) {
            kal_u64 at = now(), ns = end > at ? end - at : 0;

            left = (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
            bound = &left;
        }
        ready = ppoll(&one, 1, bound, NULL);
        if (ready > 0)
            return kal_ok;
        if (ready == 0)
            return kal_err_again;
        if (errno != EINTR)
            return sys_error(errno);
    }
}

int wait_a_moment(kal_u64 ns, wait_end end)
{
    kal_u64 at = now(), left = end > at ? end - at : 0;
    struct timespec moment = {.tv_nsec = (long)(left < ns ? left : ns)};

    if (left == 0)
        return kal_err_again;
    (void)nanosleep(&moment, NULL);
    return kal_ok;
}
