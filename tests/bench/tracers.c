/* A million calls, timed by the program itself: of a function of the surface, in an image; else of a library's that is as
 * short, through a PLT. Prints the nanoseconds that a call took, on average. */
#define CALLS 1000000

#ifdef AS_IMAGE
#include <openkal/openkal.h>
#define WORK (void)kal_prof_props()
#define NOW kal_time_monotonic()
#else
#include <stdint.h>
#include <time.h>
#include <unistd.h>
extern uintptr_t short_function(void);
#define WORK (void)short_function()
#define NOW now()

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

int main(void)
{
    char text[32], *at = text + sizeof text;
    unsigned long long taken = NOW;

    for (int i = 0; i < CALLS; i++)
        WORK;
    taken = (NOW - taken) / (CALLS / 1000); /* thousandths of a nanosecond a call */
    *--at = '\n';
    for (int digits = 0; digits < 4 || taken != 0; digits++) {
        if (digits == 3)
            *--at = '.';
        *--at = (char)('0' + taken % 10);
        taken /= 10;
    }
#ifdef AS_IMAGE
    return kal_stream_write(kal_stdout(), at, (kal_uintptr)(text + sizeof text - at)) <= 0;
#else
    return write(1, at, (size_t)(text + sizeof text - at)) <= 0;
#endif
}
