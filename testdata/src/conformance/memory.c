#define INTERFACE "memory"
#include "conformance.h"

static int is_filled(const unsigned char* p, kal_uintptr size, unsigned char value)
{
    while (size)
        if (p[--size] != value)
            return 0;
    return 1;
}

static void ordinary(void)
{
    int aligned = 1, kept = 1;
    unsigned char* p[20];

    for (kal_uintptr i = 0; i < 20; i++) {
        p[i] = kal_alloc(3 * i + 1, (kal_uintptr)1 << i);
        aligned &= p[i] != 0 && (kal_uintptr)p[i] % ((kal_uintptr)1 << i) == 0;
        if (p[i])
            __builtin_memset(p[i], (int)i, 3 * i + 1);
    }
    CHECK(kal_alloc, "every power of two up to half a MiB is an alignment", aligned);
    for (kal_uintptr i = 0; i < 20; i++)
        kept &= p[i] != 0 && is_filled(p[i], 3 * i + 1, (unsigned char)i);
    CHECK(kal_alloc, "no two overlap", kept);
    for (kal_uintptr i = 0; i < 20; i += 2)
        kal_free(p[i], 3 * i + 1, (kal_uintptr)1 << i);
    kept = 1;
    for (kal_uintptr i = 1; i < 20; i += 2)
        kept &= p[i] != 0 && is_filled(p[i], 3 * i + 1, (unsigned char)i);
    CHECK(kal_free, "leaves the others as they are", kept);
    for (kal_uintptr i = 1; i < 20; i += 2)
        kal_free(p[i], 3 * i + 1, (kal_uintptr)1 << i);
}

static void limits(void)
{
    const kal_uintptr large = (kal_uintptr)64 << 20;
    unsigned char* p = kal_alloc(large, 16);

    CHECK(kal_alloc, "64 MiB can be written to their last byte", p && (p[0] = 1, p[large - 1] = 2, p[0] == 1));
    kal_free(p, large, 16);
    CHECK(kal_alloc, "a size of 0 is null", kal_alloc(0, 8) == 0);
    CHECK(kal_alloc, "an alignment of 0 is null", kal_alloc(8, 0) == 0);
    CHECK(kal_alloc, "an alignment that is no power of two is null", !kal_alloc(8, 3) && !kal_alloc(8, 24));
    CHECK(kal_alloc, "a size that overflows is null",
          !kal_alloc(~(kal_uintptr)0, 1) && !kal_alloc(~(kal_uintptr)0 - 15, 4096));
    CHECK(kal_alloc, "more than there is is null", !kal_alloc((kal_uintptr)1 << 62, 16));
    CHECK(kal_alloc, "an alignment of half the address space is null", !kal_alloc(8, (kal_uintptr)1 << 63));
}

static void many(void)
{
    int got = 1;

    for (int i = 0; i < 300; i++) {
        unsigned char* p = kal_alloc((kal_uintptr)64 << 20, 4096);

        got &= p != 0;
        if (p)
            p[i] = 1;
        kal_free(p, (kal_uintptr)64 << 20, 4096);
    }
    CHECK(kal_free, "what is freed can be had again", got);
    kal_free(0, 8, 8);
    kal_free(0, 0, 0);
    CHECK(kal_free, "null is nothing", 1);
}

int main(void)
{
    const kal_uintptr unit = kal_memory_granularity();

    ordinary();
    limits();
    many();
    CHECK(kal_memory_granularity, "is a power of two", unit != 0 && (unit & (unit - 1)) == 0);
    CHECK(kal_memory_granularity, "is the same at every call", kal_memory_granularity() == unit);
    return summary();
}
