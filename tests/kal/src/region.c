/* region: calls every function of openkal.region. Status 0, or a line on standard error that says what is not so.
 *
 * region maps: looks at the kernel's list of mappings, and at how much memory there is, after each step.
 * region touch: touches what is not committed.
 * region none: finds no room for 64 GiB.
 * region most: commits until nothing is committed, and says how many MiB there were. */
#include "maps.h"

#define LARGE ((kal_uintptr)64 << 30)
#define MIB ((kal_uintptr)1 << 20)

static char* reserved(kal_uintptr size)
{
    void* p = 0;

    EXPECT(kal_region_reserve(size, &p) == kal_ok && p && (kal_uintptr)p % kal_region_granularity() == 0);
    return p;
}

static int is_all(const char* p, kal_uintptr size, char byte)
{
    while (size > 0 && p[size - 1] == byte)
        size--;
    return size == 0;
}

static void look_at_all(kal_uintptr page)
{
    char *p = reserved(LARGE), *part = p + LARGE / 2, here;
    void* out = &here;

    EXPECT(kal_region_commit(part, 3 * page) == kal_ok && is_all(part, 3 * page, 0));
    __builtin_memset(part, 7, 3 * page);
    EXPECT(kal_region_commit(part - page, 5 * page) == kal_ok);
    EXPECT(is_all(part, 3 * page, 7) && is_all(part - page, page, 0));
    EXPECT(kal_region_decommit(part + page, page) == kal_ok && kal_region_commit(part + page, 1) == kal_ok);
    EXPECT(is_all(part, page, 7) && is_all(part + page, page, 0) && is_all(part + 2 * page, page, 7));
    EXPECT(kal_region_commit(p + LARGE - page, page) == kal_ok);
    EXPECT(kal_region_commit(p + LARGE - page, page + 1) == kal_err_invalid);
    EXPECT(kal_region_commit(p + 1, page) == kal_err_invalid && kal_region_commit(&here, 1) == kal_err_invalid);
    EXPECT(kal_region_decommit(0, page) == kal_err_invalid && kal_region_decommit(p, 0) == kal_err_invalid);
    EXPECT(kal_region_release(p, page) == kal_err_invalid && kal_region_release(part, page) == kal_err_invalid);
    EXPECT(kal_region_release(p, LARGE) == kal_ok && kal_region_release(p, LARGE) == kal_err_invalid);
    EXPECT(kal_region_commit(p, page) == kal_err_invalid);
    EXPECT(kal_region_reserve(0, &out) == kal_err_invalid && kal_region_reserve(page, 0) == kal_err_invalid);
    EXPECT(kal_region_reserve((kal_uintptr)-1, &out) == kal_err_invalid);
    EXPECT(kal_region_reserve((kal_uintptr)1 << 60, &out) == kal_err_no_memory && out == &here);
    EXPECT(kal_region_props() == KAL_REGION_PROP_ZEROED);
}

/* Pages of this program that are in memory. */
static kal_uintptr resident(void)
{
    char text[200];
    kal_uintptr at = 0;

    (void)read_of_self("statm", text, sizeof text);
    while (text[at++] != ' ')
        ;
    return (kal_uintptr)number_of(text + at);
}

static void look_at_maps(kal_uintptr page)
{
    kal_uintptr pages = 64 * MIB / page, before;
    char* p = reserved(LARGE);

    EXPECT(is_mapped(p, "---p") && is_mapped(p + LARGE - 1, "---p"));
    EXPECT(kal_region_commit(p, 64 * MIB) == kal_ok);
    EXPECT(is_mapped(p, "rw-p") && is_mapped(p + 64 * MIB - 1, "rw-p") && is_mapped(p + 64 * MIB, "---p"));
    before = resident();
    __builtin_memset(p, 1, 64 * MIB);
    EXPECT(resident() >= before + pages * 9 / 10);
    EXPECT(kal_region_decommit(p, 64 * MIB) == kal_ok && is_mapped(p, "---p"));
    EXPECT(resident() <= before + pages / 10);
    EXPECT(kal_region_release(p, LARGE) == kal_ok && is_mapped(p, ""));
}

static void commit_all(void)
{
    char* p = reserved(LARGE);
    kal_uintptr count = 0;
    int error;

    while ((error = kal_region_commit(p + count * MIB, MIB)) == kal_ok)
        p[count++ * MIB] = 1;
    EXPECT(error == kal_err_no_memory && count < LARGE / MIB);
    for (kal_uintptr i = 0; i < count; i++)
        EXPECT(p[i * MIB] == 1);
    say_number(kal_stdout(), count);
}

int main(int argc, char** argv)
{
    kal_uintptr page = kal_region_granularity();
    void* out = 0;

    EXPECT(page >= 4096 && (page & (page - 1)) == 0);
    if (argc == 1)
        look_at_all(page);
    else if (same(argv[1], "maps", 5))
        look_at_maps(page);
    else if (same(argv[1], "most", 5))
        commit_all();
    else if (same(argv[1], "none", 5))
        EXPECT(kal_region_reserve(LARGE, &out) == kal_err_no_memory && !out);
    else
        *(volatile char*)reserved(page) = 1;
    return 0;
}
