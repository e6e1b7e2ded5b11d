/* The processor's counter against the kernel's clock, and the name of each.                 SPEC: PROF-3 */
#include "clock.h"

#include <string.h>
#include <time.h>

#include "check.h"
#include "host.h"

/* Both clocks are read around the same wait, however long it takes: the kernel's twice within the counter's, and twice
 * around it. What the counter says must lie between, give or take a part of it. */
static void check_wait(uint64_t part)
{
    const struct timespec wait = {0, 20000000};
    uint64_t outer = clock_kernel_ns(), from = clock_ticks(), inner = clock_kernel_ns(), ns;

    nanosleep(&wait, NULL);
    inner = clock_kernel_ns() - inner;
    ns = clock_ns(clock_ticks() - from);
    outer = clock_kernel_ns() - outer;
    CHECK(ns >= inner - inner / part && ns <= outer + outer / part);
}

static void counter_keeps_the_kernels_time(void)
{
    clock_begin(CLOCK_OF_PROCESSOR);
    clock_settle();
    check_wait(50);
    clock_settle();
    check_wait(100);
    CHECK(strcmp(clock_name(), HOST_MACHINE == 62 ? "tsc" : "cntvct") == 0);
}

static void kernels_clock_is_in_nanoseconds(void)
{
    uint64_t before = clock_kernel_ns(), ticks;

    clock_begin(CLOCK_OF_KERNEL);
    clock_settle();
    ticks = clock_ticks();
    CHECK(ticks >= before && ticks <= clock_kernel_ns());
    CHECK(clock_ns(0) == 0 && clock_ns(12345678901) == 12345678901 && clock_ns(UINT64_MAX) == UINT64_MAX);
    CHECK(strcmp(clock_name(), "monotonic") == 0);
}

/* The counter only where the kernel's own choice is the counter. */
static void best_is_what_the_kernel_uses(void)
{
    char text[64] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");

    if (file) {
        CHECK(fgets(text, sizeof text, file) != NULL);
        fclose(file);
    }
    CHECK(clock_best() == CLOCK_OF_KERNEL || strcmp(text, HOST_MACHINE == 62 ? "tsc\n" : "arch_sys_counter\n") == 0);
}

int main(void)
{
    counter_keeps_the_kernels_time();
    kernels_clock_is_in_nanoseconds();
    best_is_what_the_kernel_uses();
    return 0;
}
