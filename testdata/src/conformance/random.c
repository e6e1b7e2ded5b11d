/* kal_err_again, before the generator is seeded, is over when a program can be started. */
#define INTERFACE "random"
#include "conformance.h"

static unsigned char large[1 << 20];

int main(void)
{
    const kal_uintptr assigned = KAL_RANDOM_PROP_BLOCKING | KAL_RANDOM_PROP_HARDWARE;
    unsigned char a[34] = {0}, b[32] = {0};
    kal_uintptr counts[256] = {0};
    int even = 1;

    CHECK(kal_random_fill, "fills", kal_random_fill(a + 1, 32) == kal_ok && kal_random_fill(b, 32) == kal_ok);
    CHECK(kal_random_fill, "no two are the same", !same(a + 1, b, 32));
    CHECK(kal_random_fill, "writes nothing before and behind", a[0] == 0 && a[33] == 0);
    CHECK(kal_random_fill, "a length of 0 is kal_ok",
          kal_random_fill(a, 0) == kal_ok && kal_random_fill(0, 0) == kal_ok);
    CHECK(kal_random_fill, "a MiB at once", kal_random_fill(large, sizeof large) == kal_ok);
    for (kal_uintptr i = 0; i < sizeof large; i++)
        counts[large[i]]++;
    for (int i = 0; i < 256; i++)
        even &= counts[i] > 3500 && counts[i] < 4700; /* of 4096, by nine standard deviations */
    CHECK(kal_random_fill, "all of a MiB is filled, evenly", even);
    CHECK(kal_random_fill, "null with a length is kal_err_invalid", kal_random_fill(0, 8) == kal_err_invalid);
    CHECK(kal_random_fill, "a length of more than half the address space is kal_err_invalid",
          kal_random_fill(a, TOO_LONG) == kal_err_invalid);
    CHECK(kal_random_props, "unassigned positions are 0", (kal_random_props() & ~assigned) == 0);
    CHECK(kal_random_props, "is the same at every call", kal_random_props() == kal_random_props());
    return summary();
}
