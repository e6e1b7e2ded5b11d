/* exec: calls every function of openkal.exec. Status 0, or a line on standard error that says what is not so.
 *
 * exec maps: looks, besides, at the kernel's list of mappings after each step.
 * exec write: writes to code that was published. */
#include "maps.h"

static int with_maps;

/* int f(void) { return number; } */
static void write_code(char* to, kal_u32 number)
{
#if defined(__x86_64__)
    const unsigned char code[] = {0xb8, (unsigned char)number, 0, 0, 0, 0xc3}; /* mov eax, number; ret */
#else
    const kal_u32 code[] = {0x52800000u | number << 5, 0xd65f03c0u}; /* mov w0, number; ret */
#endif

    __builtin_memcpy(to, code, sizeof code);
}

static kal_u32 run(char* code)
{
    return ((kal_u32(*)(void))(void*)code)();
}

static void are_mapped(const char* p, const char* permissions)
{
    if (with_maps)
        EXPECT(is_mapped(p, permissions));
}

static void whole(kal_uintptr page)
{
    char* p = kal_exec_alloc(2 * page);

    EXPECT(p && (kal_uintptr)p % page == 0 && p[0] == 0 && p[2 * page - 1] == 0);
    are_mapped(p, "rw-p");
    write_code(p, 42);
    write_code(p + page, 43);
    EXPECT(kal_exec_publish(p, 2 * page) == kal_ok && run(p) == 42 && run(p + page) == 43);
    are_mapped(p, "r-xp");
    are_mapped(p + page, "r-xp");
    kal_exec_free(p, 2 * page);
    are_mapped(p, "");
}

static void parts(kal_uintptr page)
{
    char* p = kal_exec_alloc(2 * page + 50);

    for (kal_u32 i = 0; i < 3; i++)
        write_code(p + i * page, i + 1);
    EXPECT(kal_exec_publish_part(p, page, page) == kal_ok && run(p + page) == 2);
    are_mapped(p, "rw-p");
    are_mapped(p + page, "r-xp");
    write_code(p, 7);
    EXPECT(kal_exec_publish_part(p, 2 * page, 50) == kal_ok && run(p + 2 * page) == 3);
    EXPECT(kal_exec_publish_part(p, 0, page) == kal_ok && run(p) == 7);
    are_mapped(p, "r-xp");
    EXPECT(kal_exec_publish_part(p, 0, 50) == kal_err_invalid && kal_exec_publish_part(p, 1, page) == kal_err_invalid);
    EXPECT(kal_exec_publish_part(p, 3 * page, page) == kal_err_invalid);
    EXPECT(kal_exec_publish_part(p + page, 0, page) == kal_err_invalid);
    kal_exec_free(p, 2 * page + 50);
}

static void wrong_ones(kal_uintptr page)
{
    char *p = kal_exec_alloc(page), here;

    EXPECT(!kal_exec_alloc(0) && !kal_exec_alloc((kal_uintptr)-1) && !kal_exec_alloc((kal_uintptr)1 << 60));
    EXPECT(kal_exec_publish(0, page) == kal_err_invalid && kal_exec_publish(&here, 1) == kal_err_invalid);
    EXPECT(kal_exec_publish(p, page - 1) == kal_err_invalid && kal_exec_publish(p + 1, page - 1) == kal_err_invalid);
    EXPECT(kal_exec_publish_part(&here, 0, 1) == kal_err_invalid);
    kal_exec_free(&here, 1);
    kal_exec_free(p, page + 1);
    p[0] = 1;
    kal_exec_free(p, page);
    EXPECT(kal_exec_publish(p, page) == kal_err_invalid);
    EXPECT(kal_exec_props() == KAL_EXEC_PROP_AVAILABLE);
}

int main(int argc, char** argv)
{
    kal_uintptr page = kal_exec_granularity();

    with_maps = argc > 1 && same(argv[1], "maps", 4);
    EXPECT(page >= 4096 && (page & (page - 1)) == 0);
    whole(page);
    parts(page);
    wrong_ones(page);
    if (argc > 1 && same(argv[1], "write", 5)) {
        char* p = kal_exec_alloc(page);

        EXPECT(kal_exec_publish(p, page) == kal_ok);
        *(volatile char*)p = 1;
    }
    return 0;
}
