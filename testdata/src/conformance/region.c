#define INTERFACE "region"
#include "fault.h"

static int is_zero(const char* p, kal_uintptr size)
{
    while (size)
        if (p[--size] != 0)
            return 0;
    return 1;
}

static void ordinary(char* p, kal_uintptr unit)
{
    CHECK(kal_region_commit, "puts memory there",
          kal_region_commit(p + unit, unit) == kal_ok && (p[unit] = 1, p[2 * unit - 1] = 2, p[unit] == 1));
    CHECK(kal_region_commit, "what was there stays", kal_region_commit(p, 3 * unit) == kal_ok && p[unit] == 1);
    CHECK(kal_region_commit, "a fresh part reads 0",
          !(kal_region_props() & KAL_REGION_PROP_ZEROED) || (is_zero(p, unit) && is_zero(p + 2 * unit, unit)));
    CHECK(kal_region_decommit, "takes it away", kal_region_decommit(p + unit, unit) == kal_ok);
    report(NAMED(kal_region_decommit), "what is there no more cannot be read", faults(read_byte, p + unit));
    CHECK(kal_region_decommit, "twice is kal_ok", kal_region_decommit(p + unit, unit) == kal_ok);
    CHECK(kal_region_decommit, "the rest stays", (p[0] = 3, p[2 * unit] = 4, p[0] == 3));
    CHECK(kal_region_commit, "comes again, reading 0",
          kal_region_commit(p + unit, unit) == kal_ok &&
              (!(kal_region_props() & KAL_REGION_PROP_ZEROED) || is_zero(p + unit, unit)));
}

static void refusals(char* p, kal_uintptr size, kal_uintptr unit)
{
    char* next = p + size;

    CHECK(kal_region_commit, "a size of 0 is kal_err_invalid", kal_region_commit(p, 0) == kal_err_invalid);
    CHECK(kal_region_commit, "no multiple of the granularity is kal_err_invalid",
          kal_region_commit(p + 1, unit) == kal_err_invalid);
    CHECK(kal_region_commit, "past the end is kal_err_invalid",
          kal_region_commit(next - unit, 2 * unit) == kal_err_invalid &&
              kal_region_commit(p, ~(kal_uintptr)0) == kal_err_invalid);
    CHECK(kal_region_commit, "null and what is no region are kal_err_invalid",
          kal_region_commit(0, unit) == kal_err_invalid && kal_region_commit(&unit, 8) == kal_err_invalid);
    CHECK(kal_region_decommit, "a size of 0 is kal_err_invalid", kal_region_decommit(p, 0) == kal_err_invalid);
    CHECK(kal_region_decommit, "no multiple of the granularity is kal_err_invalid",
          kal_region_decommit(p + 1, unit) == kal_err_invalid);
    CHECK(kal_region_decommit, "past the end is kal_err_invalid",
          kal_region_decommit(next - unit, 2 * unit) == kal_err_invalid);
    CHECK(kal_region_decommit, "null and what is no region are kal_err_invalid",
          kal_region_decommit(0, unit) == kal_err_invalid && kal_region_decommit(&unit, 8) == kal_err_invalid);
    CHECK(kal_region_release, "another size or start is kal_err_invalid",
          kal_region_release(p, size - unit) == kal_err_invalid &&
              kal_region_release(p + unit, size - unit) == kal_err_invalid);
    CHECK(kal_region_release, "null and what is no region are kal_err_invalid",
          kal_region_release(0, unit) == kal_err_invalid && kal_region_release(&unit, 8) == kal_err_invalid);
}

static void limits(void)
{
    void* p = (void*)UNTOUCHED;

    CHECK(kal_region_reserve, "a size of 0 is kal_err_invalid", kal_region_reserve(0, &p) == kal_err_invalid);
    CHECK(kal_region_reserve, "a size of more than half the address space is kal_err_invalid",
          kal_region_reserve(TOO_LONG, &p) == kal_err_invalid);
    CHECK(kal_region_reserve, "more addresses than there are is kal_err_no_memory",
          kal_region_reserve((kal_uintptr)1 << 60, &p) == kal_err_no_memory);
    CHECK(kal_region_reserve, "a refusal leaves the out-pointer as it was", p == (void*)UNTOUCHED);
    CHECK(kal_region_reserve, "a null out-pointer is kal_err_invalid", kal_region_reserve(4096, 0) == kal_err_invalid);
    CHECK(kal_region_reserve, "64 GiB of addresses can be had",
          kal_region_reserve((kal_uintptr)64 << 30, &p) == kal_ok);
    kal_region_release(p, (kal_uintptr)64 << 30);
}

int main(void)
{
    const kal_uintptr unit = kal_region_granularity(), size = 16 * unit;
    void* p = 0;

    CHECK(kal_region_granularity, "is a power of two", unit != 0 && (unit & (unit - 1)) == 0);
    CHECK(kal_region_props, "unassigned positions are 0", (kal_region_props() & ~KAL_REGION_PROP_ZEROED) == 0);
    CHECK(kal_region_reserve, "gives addresses at a multiple of the granularity",
          kal_region_reserve(size, &p) == kal_ok && p && (kal_uintptr)p % unit == 0);
    report(NAMED(kal_region_reserve), "what was not committed cannot be read", faults(read_byte, p));
    ordinary(p, unit);
    refusals(p, size, unit);
    CHECK(kal_region_release, "gives the addresses back", kal_region_release(p, size) == kal_ok);
    CHECK(kal_region_release, "what was released is kal_err_invalid",
          kal_region_release(p, size) == kal_err_invalid && kal_region_commit(p, unit) == kal_err_invalid &&
              kal_region_decommit(p, unit) == kal_err_invalid);
    limits();
    return summary();
}
