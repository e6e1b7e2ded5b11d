#include "clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/prctl.h>
#endif

#include "host.h"

#define EXACT 100               /* how many times longer than its two ends are wide a measured time must be */
#define FAR 32                  /* scales that differ by a 32nd, 3 %, are not of one clock */
#define TRIES 8
#define ONE (UINT64_C(1) << 32) /* a scale of one nanosecond a tick */
#define UNKNOWN UINT64_C(0)

/* Both clocks at one moment, which lies within so many ticks. */
struct reading {
    uint64_t ticks, ns, width;
};

struct clock host_clock = {CLOCK_OF_KERNEL, ONE};
static struct reading start;

/* Whether the kernel keeps time by the clock of this name. */
static bool kernel_uses(const char *name)
{
    char text[32];
    size_t length = strlen(name);
    int fd = host_open(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY, 0);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text);
    close(fd);
    return n > (ssize_t)length && memcmp(text, name, length) == 0 && text[length] == '\n';
}

enum clock_source clock_best(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d, invariant = 1u << 8;
    int access = 0;

    if (kernel_uses("tsc") && __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & invariant) != 0 &&
        prctl(PR_GET_TSC, &access) == 0 && access == PR_TSC_ENABLE)
        return CLOCK_OF_PROCESSOR;
#elif defined(__aarch64__)
    if (kernel_uses("arch_sys_counter"))
        return CLOCK_OF_PROCESSOR;
#endif
    return CLOCK_OF_KERNEL;
}

uint64_t clock_kernel_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Of several tries the one in which the least passed between the two clocks: the others were interrupted. */
static struct reading read_both(void)
{
    struct reading best = {.width = UINT64_MAX};

    for (int i = 0; i < TRIES; i++) {
        uint64_t before = clock_counter();
        uint64_t ns = clock_kernel_ns();
        uint64_t width = clock_counter() - before + 1; /* a coarse counter may not have moved */

        if (width < best.width)
            best = (struct reading){before + width / 2, ns, width};
    }
    return best;
}

void clock_begin(enum clock_source source)
{
    host_clock = (struct clock){source, source == CLOCK_OF_PROCESSOR ? UNKNOWN : ONE};
    if (source == CLOCK_OF_PROCESSOR)
        start = read_both();
}

void clock_settle(void)
{
    uint64_t before = host_clock.scale, scale, ns, ticks, least;

    if (host_clock.source == CLOCK_OF_KERNEL)
        return;
    do {
        struct reading now = read_both();

        ns = now.ns - start.ns;
        ticks = now.ticks - start.ticks;
        least = EXACT * (start.width + now.width);
    } while (ticks < least);
    scale = (uint64_t)(((unsigned __int128)ns << 32) / ticks);
    if (before == UNKNOWN || (scale > before - before / FAR && scale < before + before / FAR))
        __atomic_store_n(&host_clock.scale, scale, __ATOMIC_RELAXED);
}

const char *clock_name(void)
{
    if (host_clock.source == CLOCK_OF_KERNEL)
        return "monotonic";
#if defined(__x86_64__)
    return "tsc";
#else
    return "cntvct";
#endif
}
