#define INTERFACE "exec"
#include "fault.h"

/* int f(void) { return number; } */
static void write_code(char* to, kal_u32 number)
{
#if defined(__x86_64__)
    const unsigned char code[] = {0xb8, (unsigned char)number, 0, 0, 0, 0xc3}; /* mov eax, number; ret */
#elif defined(__aarch64__)
    const kal_u32 code[] = {0x52800000u | number << 5, 0xd65f03c0u}; /* mov w0, number; ret */
#else
#error "code for this processor"
#endif

    __builtin_memcpy(to, code, sizeof code);
}

static kal_u32 run(char* code)
{
    return ((kal_u32 (*)(void))(void*)code)();
}

static void calls(void* code)
{
    (void)run(code);
}

static void whole(kal_uintptr unit)
{
    char* p = kal_exec_alloc(2 * unit);

    CHECK(kal_exec_alloc, "gives memory that can be written", p && (write_code(p, 42), write_code(p + unit, 43), 1));
    CHECK(kal_exec_alloc, "begins at a multiple of the granularity", p && (kal_uintptr)p % unit == 0);
    CHECK(kal_exec_publish, "makes all of it code",
          kal_exec_publish(p, 2 * unit) == kal_ok && run(p) == 42 && run(p + unit) == 43);
    CHECK(kal_exec_publish, "twice is kal_ok", kal_exec_publish(p, 2 * unit) == kal_ok && run(p) == 42);
    report(NAMED(kal_exec_publish), "what was published cannot be written", faults(write_byte, p));
    kal_exec_free(p, 2 * unit);
    CHECK(kal_exec_free, "takes it back", kal_exec_publish(p, 2 * unit) == kal_err_invalid);
}

static void parts(kal_uintptr unit)
{
    char* p = kal_exec_alloc(2 * unit);

    write_code(p, 1);
    write_code(p + unit, 2);
    CHECK(kal_exec_publish_part, "makes a part code",
          kal_exec_publish_part(p, unit, unit) == kal_ok && run(p + unit) == 2);
    write_code(p, 7);
    CHECK(kal_exec_publish_part, "the rest can be written on",
          kal_exec_publish_part(p, 0, unit) == kal_ok && run(p) == 7);
    CHECK(kal_exec_publish_part, "an offset that is no multiple of the granularity is kal_err_invalid",
          kal_exec_publish_part(p, 1, unit) == kal_err_invalid);
    CHECK(kal_exec_publish_part, "a part that ends inside is kal_err_invalid",
          kal_exec_publish_part(p, 0, unit / 2) == kal_err_invalid);
    CHECK(kal_exec_publish_part, "past the end is kal_err_invalid",
          kal_exec_publish_part(p, unit, 2 * unit) == kal_err_invalid &&
              kal_exec_publish_part(p, 2 * unit, unit) == kal_err_invalid &&
              kal_exec_publish_part(p, unit, ~(kal_uintptr)0 - unit + 1) == kal_err_invalid);
    CHECK(kal_exec_publish_part, "a size of 0 is kal_err_invalid", kal_exec_publish_part(p, 0, 0) == kal_err_invalid);
    CHECK(kal_exec_publish_part, "what does not begin a region is kal_err_invalid",
          kal_exec_publish_part(p + unit, 0, unit) == kal_err_invalid &&
              kal_exec_publish_part(&p, 0, 1) == kal_err_invalid &&
              kal_exec_publish_part(0, 0, unit) == kal_err_invalid);
    kal_exec_free(p, 2 * unit);
    p = kal_exec_alloc(unit);
    write_code(p, 3);
    report(NAMED(kal_exec_alloc), "what was not published cannot be executed", faults(calls, p));
    kal_exec_free(p, unit);
}

static void refusals(kal_uintptr unit)
{
    char* p = kal_exec_alloc(unit);

    CHECK(kal_exec_alloc, "a size of 0 is null", !kal_exec_alloc(0));
    CHECK(kal_exec_alloc, "more than there is is null",
          !kal_exec_alloc(~(kal_uintptr)0) && !kal_exec_alloc((kal_uintptr)1 << 60));
    CHECK(kal_exec_publish, "null and what is no region are kal_err_invalid",
          kal_exec_publish(0, unit) == kal_err_invalid && kal_exec_publish(&unit, 8) == kal_err_invalid);
    CHECK(kal_exec_publish, "another size or start is kal_err_invalid",
          kal_exec_publish(p, unit - 1) == kal_err_invalid && kal_exec_publish(p + 1, unit - 1) == kal_err_invalid);
    kal_exec_free(0, unit);
    kal_exec_free(&unit, 8);
    kal_exec_free(p, unit + 1);
    CHECK(kal_exec_free, "of what is no region does nothing", (p[0] = 1, p[unit - 1] = 2, p[0] == 1));
    kal_exec_free(p, unit);
}

int main(void)
{
    const kal_uintptr unit = kal_exec_granularity(), props = kal_exec_props();

    CHECK(kal_exec_granularity, "is a power of two", unit != 0 && (unit & (unit - 1)) == 0);
    CHECK(kal_exec_props, "unassigned positions are 0",
          (props & ~(KAL_EXEC_PROP_REPUBLISH | KAL_EXEC_PROP_AVAILABLE)) == 0);
    if (props & KAL_EXEC_PROP_AVAILABLE) {
        whole(unit);
        parts(unit);
    } else {
        UNOBSERVED(kal_exec_publish, "makes all of it code");
        UNOBSERVED(kal_exec_publish_part, "makes a part code");
    }
    refusals(unit);
    return summary();
}
