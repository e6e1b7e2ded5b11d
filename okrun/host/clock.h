/* The clock that calls are timed by: the processor's counter where the kernel itself trusts it, else the kernel's.
 *
 * A tick of the counter is worth `scale` nanoseconds, a 32.32 fixed-point number. It is found twice: roughly, before
 * the image runs, for the histogram, which sorts each call as it returns; and over the whole run, for what is reported
 * in nanoseconds. Neither asks the processor or the firmware, whose answers are absent as often as wrong. */
#ifndef OKHOST_CLOCK_H
#define OKHOST_CLOCK_H

#include <stdint.h>

enum clock_source { CLOCK_OF_KERNEL, CLOCK_OF_PROCESSOR };

struct clock {
    enum clock_source source;
    uint64_t scale;
};

extern struct clock host_clock;

/* The processor's counter where it runs at one speed, never stops, is the kernel's own clock and may be read here; else
 * the kernel's clock. SPEC: PROF-3 */
enum clock_source clock_best(void);

/* Begin to time by a source. */
void clock_begin(enum clock_source source);

/* Fix the scale by all the time since clock_begin().
 * Ensures:  so much has passed, some 20 us, that the scale is right to 1 %; one that is far from the one before it is not
 *           taken: the machine slept meanwhile, and its two clocks did not agree on how long. Signal-safe. */
void clock_settle(void);

/* The name of the source, as the report has it. */
const char *clock_name(void);

/* CLOCK_MONOTONIC in nanoseconds. Signal-safe. */
uint64_t clock_kernel_ns(void);

/* Not ordered with what surrounds it: a fence costs more than the few nanoseconds by which a call then differs. */
static inline uint64_t clock_counter(void)
{
    uint64_t ticks;
#if defined(__x86_64__)
    ticks = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
    return ticks;
}

static inline uint64_t clock_ticks(void)
{
    return __builtin_expect(host_clock.source == CLOCK_OF_PROCESSOR, 1) ? clock_counter() : clock_kernel_ns();
}

static inline uint64_t clock_ns(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * __atomic_load_n(&host_clock.scale, __ATOMIC_RELAXED) >> 32);
}

#endif
