#include "handle.h"

#include <stdint.h>
#include <sys/random.h>
#include <time.h>

#define STANDARD_STREAMS 3 /* their slots are their descriptors */

static kal_uintptr issued[STANDARD_STREAMS]; /* 0: not yet */

/* 40 bits that no program guesses by accident. */
static uint64_t cookie(void)
{
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
        struct timespec now; /* before the kernel's generator is seeded: still not a small number */

        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
    }
    return bits >> 24 | UINT64_C(1) << 39;
}

kal_uintptr handle_standard(int fd)
{
    kal_uintptr *slot = &issued[fd];
    kal_uintptr word = __atomic_load_n(slot, __ATOMIC_RELAXED);

    if (word == 0) {
        kal_uintptr fresh = (kal_uintptr)(cookie() << 24 | (uint64_t)fd << 8 | HANDLE_STREAM);

        if (__atomic_compare_exchange_n(slot, &word, fresh, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            word = fresh;
    }
    return word;
}

int handle_descriptor(enum handle_kind kind, kal_uintptr word)
{
    uint64_t slot = word >> 8 & 0xffff;

    if ((word & 0xff) != (kal_uintptr)kind || slot >= STANDARD_STREAMS ||
        __atomic_load_n(&issued[slot], __ATOMIC_RELAXED) != word)
        return -1;
    return (int)slot;
}
