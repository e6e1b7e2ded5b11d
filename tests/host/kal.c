/* The functions of the native host but those of streams and ends.
 * SPEC: KAL-3, KAL-4, KAL-5, KAL-6, KAL-8, BIND-4, RI-4, RI-5, RI-6 */
#define _GNU_SOURCE
#include <openkal/openkal.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "counters.h"
#include "host.h"
#include "interrupt.h"
#include "measure.h"
#include "names.h"

static char *arguments[] = {(char *)"dir/image.ok", (char *)"", (char *)"two words", (char *)"\xff\x01"};
static struct plan_header header = {.names_count = 1};
static const struct plan plan = {.header = &header};
struct image host_image = {.plan = &plan, .argc = 4, .argv = arguments};

static unsigned measured;

unsigned measure_what(void)
{
    return measured;
}

/* One symbol: `known`, 16 bytes at 0x1000. */
int names_lookup(uintptr_t address, char *out, size_t cap, size_t *length, uint64_t *offset)
{
    if (address < 0x1000 || address >= 0x1010)
        return 0;
    *length = 5;
    if (cap > 0)
        memcpy(out, "known", cap < 5 ? cap : 5);
    *offset = address - 0x1000;
    return 1;
}

bool counters_add(const char *name, size_t length, const uint64_t *cell)
{
    CHECK(measured && name && length > 0 && cell);
    return *cell != 7; /* 7: there is no memory */
}

bool phases_change(const char *name, size_t length)
{
    CHECK(measured && (name || length == 0));
    return true;
}

static void memory_is_aligned_or_null(void)
{
    static const kal_uintptr sizes[] = {1, 7, 8, 4096, 1000003};

    for (kal_uintptr align = 1; align <= 1 << 21; align <<= 1) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            char *p = kal_alloc(sizes[i], align);

            CHECK(p && (uintptr_t)p % align == 0);
            memset(p, 0xa5, sizes[i]);
            kal_free(p, sizes[i], align);
        }
    }
    kal_free(NULL, 16, 16);
    CHECK(!kal_alloc(0, 8) && !kal_alloc(8, 0) && !kal_alloc(8, 3) && !kal_alloc(8, 24));
    CHECK(!kal_alloc((kal_uintptr)-1, 1) && !kal_alloc((kal_uintptr)-1, 4096) && !kal_alloc((kal_uintptr)1 << 62, 1));
    CHECK(!kal_alloc(1, (kal_uintptr)1 << 63) && !kal_alloc((kal_uintptr)PTRDIFF_MAX, (kal_uintptr)1 << 62));
    CHECK(kal_memory_granularity() == (kal_uintptr)sysconf(_SC_PAGESIZE));
}

/* A text through a function that copies out: its length, whatever the room for it. */
#define CHECK_TEXT(call, text)                                                                                         \
    do {                                                                                                               \
        for (size_t cap = 0; cap <= sizeof(text) + 1; cap++) {                                                         \
            size_t whole = sizeof(text) - 1, n = cap < whole ? cap : whole;                                            \
            char out[64];                                                                                              \
                                                                                                                       \
            memset(out, '#', sizeof out);                                                                              \
            CHECK((call) == (kal_intptr)sizeof(text) - 1);                                                             \
            CHECK(memcmp(out, text, n) == 0 && out[n] == '#');                                                         \
        }                                                                                                              \
    } while (0)

static void arguments_are_copied_byte_for_byte(void)
{
    CHECK(kal_env_arg_count() == 4);
    CHECK_TEXT(kal_env_arg(0, out, cap), "dir/image.ok");
    CHECK_TEXT(kal_env_arg(1, out, cap), "");
    CHECK_TEXT(kal_env_arg(2, out, cap), "two words");
    CHECK_TEXT(kal_env_arg(3, out, cap), "\xff\x01");
    CHECK(kal_env_arg(4, NULL, 0) == -kal_err_not_found && kal_env_arg((kal_uintptr)-1, NULL, 0) == -kal_err_not_found);
    CHECK(kal_env_arg(0, NULL, 0) == 12 && kal_env_arg(0, NULL, 1) == -kal_err_invalid);
}

static void variables_are_found_and_listed(void)
{
    static char *entries[] = {(char *)"A=1",   (char *)"EMPTY=", (char *)"no equals", (char *)"=C:=x",
                              (char *)"A=two", (char *)"E=a=b",  (char *)"\xfe=\xff", NULL};
    char **before = environ;

    environ = entries;
    CHECK(kal_env_var_count() == 5);
    CHECK_TEXT(kal_env_var("A", 1, out, cap), "1");
    CHECK_TEXT(kal_env_var("EMPTY", 5, out, cap), "");
    CHECK_TEXT(kal_env_var("E", 1, out, cap), "a=b");
    CHECK_TEXT(kal_env_var("\xfe", 1, out, cap), "\xff");
    CHECK_TEXT(kal_env_var_at(0, out, cap), "A");
    CHECK_TEXT(kal_env_var_at(1, out, cap), "EMPTY");
    CHECK_TEXT(kal_env_var_at(2, out, cap), "A");
    CHECK_TEXT(kal_env_var_at(3, out, cap), "E");
    CHECK_TEXT(kal_env_var_at(4, out, cap), "\xfe");
    CHECK(kal_env_var_at(5, NULL, 0) == -kal_err_not_found);
    CHECK(kal_env_var("EMPT", 4, NULL, 0) == -kal_err_not_found && kal_env_var("E=a", 3, NULL, 0) == -kal_err_not_found);
    CHECK(kal_env_var("", 0, NULL, 0) == -kal_err_not_found && kal_env_var("A\0", 2, NULL, 0) == -kal_err_not_found);
    CHECK(kal_env_var(NULL, 0, NULL, 0) == -kal_err_invalid && kal_env_var(NULL, 3, NULL, 0) == -kal_err_invalid);
    environ = NULL;
    CHECK(kal_env_var_count() == 0 && kal_env_var("A", 1, NULL, 0) == -kal_err_not_found);
    environ = before;
}

static void time_goes_on_and_sleep_lasts(void)
{
    struct timespec wall;
    kal_duration from = kal_time_monotonic(), at = from, step;

    for (int i = 0; i < 100000; i++) {
        kal_duration now = kal_time_monotonic();

        CHECK(now >= at);
        at = now;
    }
    clock_gettime(CLOCK_REALTIME, &wall);
    CHECK(kal_time_wall() / 1000000000 - (kal_duration)wall.tv_sec <= 3600);
    step = kal_time_monotonic_granularity();
    CHECK(step >= 1 && step <= 1000000000);
    CHECK(kal_time_props() == (KAL_TIME_PROP_WALL_AVAILABLE | KAL_TIME_PROP_MONOTONIC_SUSPENDS | KAL_TIME_PROP_SLEEP_PRECISE));

    interrupt(true);
    from = kal_time_monotonic();
    kal_time_sleep(30000000);
    CHECK(kal_time_monotonic() - from >= 30000000);
    interrupt(false);
    kal_time_sleep(0);
}

static void *sleep_for_ever(void *ended)
{
    kal_time_sleep(UINT64_MAX);
    *(volatile bool *)ended = true;
    return NULL;
}

static void the_longest_sleep_does_not_wrap(void)
{
    static bool ended;
    pthread_t sleeper;

    CHECK(pthread_create(&sleeper, NULL, sleep_for_ever, &ended) == 0);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    CHECK(!ended); /* and it sleeps on when the program ends */
}

static void random_fills_all_or_nothing(void)
{
    static unsigned char bytes[40 << 20];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), zeros = 0;
    unsigned char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(kal_random_fill(bytes, sizeof bytes) == kal_ok);
    for (size_t i = sizeof bytes - 4096; i < sizeof bytes; i++)
        zeros += bytes[i] == 0;
    CHECK(zeros < 200); /* of 4,096 bytes about 16 are */
    CHECK(kal_random_fill(NULL, 0) == kal_ok && kal_random_fill(NULL, 1) == kal_err_invalid);
    CHECK(kal_random_fill(bytes, (kal_uintptr)-1) == kal_err_invalid);
    CHECK(kal_random_props() == 0);

    CHECK(two != MAP_FAILED && munmap(two + page, page) == 0);
    CHECK(kal_random_fill(two, 2 * page) == kal_err_invalid);
    for (size_t i = 0; i < page; i++)
        CHECK(two[i] == 0);
    munmap(two, page);
}

static void names_of_counters_are_checked(void)
{
    static const struct {
        const char *name;
        kal_uintptr length;
        int want;
    } names[] = {
        {"lines", 5, kal_ok},
        {"a b \"\\/", 7, kal_ok},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, kal_ok},
        {"", 0, kal_err_invalid},
        {NULL, 3, kal_err_invalid},
        {"a\nb", 3, kal_err_invalid},
        {"a\0b", 3, kal_err_invalid},
        {"\x7f", 1, kal_err_invalid},
        {"\xff", 1, kal_err_invalid},
        {"\xc3", 1, kal_err_invalid},             /* cut */
        {"\xc3\xa9", 1, kal_err_invalid},         /* cut by its length */
        {"\xc0\xaf", 2, kal_err_invalid},         /* longer than need be */
        {"\xed\xa0\x80", 3, kal_err_invalid},     /* a surrogate */
        {"\xf4\x90\x80\x80", 4, kal_err_invalid}, /* past U+10FFFF */
        {"\xe2\x28\xa1", 3, kal_err_invalid},
    };
    char longest[256];
    kal_u64 cell = 0, full = 7;

    memset(longest, 'n', sizeof longest);
    for (measured = 0; measured <= PLAN_MEASURE_COUNTERS; measured += PLAN_MEASURE_COUNTERS) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            CHECK(kal_prof_counter(names[i].name, names[i].length, &cell) == names[i].want);
            CHECK(kal_prof_phase(names[i].name, names[i].length) == (names[i].length ? names[i].want : kal_ok));
        }
        CHECK(kal_prof_counter(longest, 255, &cell) == kal_ok && kal_prof_phase(longest, 255) == kal_ok);
        CHECK(kal_prof_counter(longest, 256, &cell) == kal_err_invalid && kal_prof_phase(longest, 256) == kal_err_invalid);
        CHECK(kal_prof_counter("n", (kal_uintptr)-1, &cell) == kal_err_invalid);
        CHECK(kal_prof_counter("n", 1, NULL) == kal_err_invalid);
        CHECK(kal_prof_phase(NULL, 0) == kal_ok);
        CHECK(kal_prof_counter("n", 1, &full) == (measured ? kal_err_no_memory : kal_ok));
    }
    measured = 0;
}

static void props_say_what_is_measured(void)
{
    static const struct {
        unsigned what;
        kal_uintptr want;
    } known[] = {{0, 0},
                 {PLAN_MEASURE_COUNT, KAL_PROF_PROP_CALLS | KAL_PROF_PROP_COUNTERS},
                 {PLAN_MEASURE_CALLS, KAL_PROF_PROP_CALLS | KAL_PROF_PROP_COUNTERS},
                 {PLAN_MEASURE_COUNTERS, KAL_PROF_PROP_COUNTERS},
                 {PLAN_MEASURE_PERFMAP, KAL_PROF_PROP_COUNTERS},
                 {PLAN_MEASURE_HEAP, KAL_PROF_PROP_HEAP | KAL_PROF_PROP_COUNTERS}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        measured = known[i].what;
        CHECK(kal_prof_props() == known[i].want);
    }
    measured = 0;
}

static void symbols_are_copied_out(void)
{
    kal_uintptr offset = 77;

    CHECK_TEXT(kal_debug_symbolize((void *)(uintptr_t)0x1004, out, cap, &offset), "known");
    CHECK(offset == 4);
    CHECK(kal_debug_symbolize((void *)(uintptr_t)0x1004, NULL, 0, NULL) == 5);
    offset = 77;
    CHECK(kal_debug_symbolize((void *)(uintptr_t)0x1010, NULL, 0, &offset) == -kal_err_not_found && offset == 77);
    CHECK(kal_debug_symbolize(NULL, NULL, 0, &offset) == -kal_err_not_found);
    CHECK(kal_debug_symbolize((void *)(uintptr_t)0x1004, NULL, 5, &offset) == -kal_err_invalid);
    CHECK(kal_debug_props() == KAL_DEBUG_PROP_SYMBOLS);
    header.names_count = 0;
    CHECK(kal_debug_props() == 0);
}

static void version_and_interfaces_are_those_hosted(void)
{
    CHECK(kal_version() == 0x140000);
    CHECK(kal_interfaces() == 0x7ffff);
}

int main(void)
{
    memory_is_aligned_or_null();
    arguments_are_copied_byte_for_byte();
    variables_are_found_and_listed();
    time_goes_on_and_sleep_lasts();
    the_longest_sleep_does_not_wrap();
    random_fills_all_or_nothing();
    names_of_counters_are_checked();
    props_say_what_is_measured();
    symbols_are_copied_out();
    version_and_interfaces_are_those_hosted();
    return 0;
}
