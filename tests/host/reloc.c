/* Relocation: what each type writes, by the processors' ABIs; and that no table writes anywhere else. */
#include "check.h"
#include "good_plan.h"
#include "load.h"

#if HOST_MACHINE == 62
enum { WORD = 1, GLOB_DAT = 6, JUMP_SLOT = 7, RELATIVE = 8, COPY = 5, IRELATIVE = 37, SLOT_ADDS = 0 };
#else
enum { WORD = 257, GLOB_DAT = 1025, JUMP_SLOT = 1026, RELATIVE = 1027, COPY = 1024, IRELATIVE = 1032, SLOT_ADDS = 1 };
#endif

struct entry {
    uint64_t offset, info, addend;
};

#define INFO(symbol, type) ((uint64_t)(symbol) << 32 | (type))

/* An image in a block of exactly the size, so that a sanitizer sees every write outside it; the rest of what must not
 * be written is compared. */
struct fixture {
    struct good_plan good;
    struct plan plan;
    uint8_t *base, before[HI - LO];
    uint64_t values[5];
    struct refusal why;
};

static void setup(struct fixture *f)
{
    static const uint64_t values[] = {0, 0x1000, 77, 0x2000, 0};

    f->good = good_plan();
    f->plan = view_of(&f->good);
    f->good.h.rela_count = f->good.h.jmprel_count = f->good.h.relr_count = 0;
    f->base = malloc(HI - LO);
    CHECK(f->base != NULL);
    for (size_t i = 0; i < HI - LO; i++)
        f->base[i] = (uint8_t)(i * 7 + 3);
    memcpy(f->values, values, sizeof values);
}

static bool run(struct fixture *f)
{
    memcpy(f->before, f->base, HI - LO);
    return relocate(&f->plan, f->base, f->values, &f->why);
}

static void put(struct fixture *f, uint64_t addr, const void *bytes, size_t n)
{
    memcpy(f->base + (addr - LO), bytes, n);
}

static uint64_t word_at(const uint8_t *base, uint64_t addr)
{
    uint64_t word;

    memcpy(&word, base + (addr - LO), sizeof word);
    return word;
}

/* The word at an address is this now; and, for the last check, counts as unchanged. */
static void check_word(struct fixture *f, uint64_t addr, uint64_t want)
{
    CHECK(word_at(f->base, addr) == want);
    memcpy(f->before + (addr - LO), &want, sizeof want);
}

static void teardown(struct fixture *f)
{
    CHECK(memcmp(f->base, f->before, HI - LO) == 0);
    free(f->base);
}

static void every_type_writes_what_its_abi_says(void)
{
    static struct fixture f;
    const struct entry rela[] = {
        {DATA + 0x20, INFO(0, RELATIVE), CODE + 4},
        {DATA + 0x29, INFO(1, WORD), 5}, /* not aligned */
        {DATA_END - 8, INFO(2, WORD), UINT64_MAX}, /* the last word that is memory */
        {DATA, INFO(3, GLOB_DAT), 0},
    };
    const struct entry jmprel[] = {{DATA + 0x40, INFO(1, JUMP_SLOT), 3}};

    setup(&f);
    f.good.h.rela_count = 4;
    f.good.h.jmprel_count = 1;
    put(&f, RELA, rela, sizeof rela);
    put(&f, JMPREL, jmprel, sizeof jmprel);
    CHECK(run(&f));
    check_word(&f, DATA + 0x20, (uintptr_t)f.base + (CODE + 4 - LO));
    check_word(&f, DATA + 0x29, 0x1005);
    check_word(&f, DATA_END - 8, 76);
    check_word(&f, DATA, 0x2000);
    check_word(&f, DATA + 0x40, SLOT_ADDS ? 0x1003 : 0x1000);
    teardown(&f);
}

static void relr_adds_the_base(void)
{
    static struct fixture f;
    /* an address; a bitmap of words 1 and 63 after it; a bitmap of the first word after those */
    const uint64_t relr[] = {DATA + 0x100, UINT64_C(1) | 2 | UINT64_C(1) << 63, 3};
    static const uint64_t places[] = {DATA + 0x100, DATA + 0x108, DATA + 0x100 + 63 * 8, DATA + 0x100 + 64 * 8};

    setup(&f);
    f.good.h.relr_count = 3;
    put(&f, RELR, relr, sizeof relr);
    CHECK(run(&f));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        check_word(&f, places[i], word_at(f.before, places[i]) + (uintptr_t)f.base - LO);
    teardown(&f);
}

/* The entry is refused alone, and after one whose segment is still at hand. */
static void check_refused_entry(struct entry e, const char *text, bool second, int line)
{
    static struct fixture f;
    const struct entry good = {DATA + 0x700, INFO(2, WORD), 0};

    setup(&f);
    f.good.h.rela_count = second ? 2 : 1;
    put(&f, RELA, &good, sizeof good);
    put(&f, second ? RELA + sizeof e : RELA, &e, sizeof e);
    if (run(&f) || strstr(f.why.text, text) == NULL || strstr(f.why.text, "[RUN-3]") == NULL) {
        fprintf(stderr, "line %d: want \"%s\", got \"%s\"\n", line, text, f.why.text);
        exit(1);
    }
    if (second)
        check_word(&f, good.offset, 77);
    teardown(&f);
}

#define REFUSED(text, ...)                                                                                             \
    do {                                                                                                               \
        check_refused_entry((struct entry){__VA_ARGS__}, text, false, __LINE__);                                       \
        check_refused_entry((struct entry){__VA_ARGS__}, text, true, __LINE__);                                        \
    } while (0)

static void nothing_else_is_written(void)
{
    REFUSED("outside", DATA_END - 7, INFO(0, RELATIVE), CODE);
    REFUSED("outside", DATA - 1, INFO(0, RELATIVE), CODE);
    REFUSED("outside", RODATA, INFO(0, RELATIVE), CODE);
    REFUSED("outside", CODE, INFO(0, RELATIVE), CODE);
    REFUSED("outside", CODE + 0x1000, INFO(0, RELATIVE), CODE); /* between segments */
    REFUSED("outside", HI, INFO(0, RELATIVE), CODE);
    REFUSED("outside", 0, INFO(0, RELATIVE), CODE);
    REFUSED("outside", UINT64_MAX, INFO(0, RELATIVE), CODE);
    REFUSED("outside", UINT64_MAX - 6, INFO(1, WORD), 0);
    REFUSED("unknown relocation type", DATA, INFO(1, 0), 0);
    REFUSED("unknown relocation type", DATA, INFO(1, COPY), 0);
    REFUSED("unknown relocation type", DATA, INFO(0, IRELATIVE), CODE);
    REFUSED("unknown relocation type", DATA, INFO(1, 0x7fffffff), 0);
    REFUSED("relative relocation names a symbol", DATA, INFO(1, RELATIVE), CODE);
    REFUSED("no such symbol", DATA, INFO(0, WORD), 0);
    REFUSED("no such symbol", DATA, INFO(5, WORD), 0);
    REFUSED("no such symbol", DATA, INFO(0xffffffff, GLOB_DAT), 0);
    REFUSED("addend on an imported", DATA, INFO(3, WORD), 1);
    REFUSED("addend on an imported", DATA, INFO(4, GLOB_DAT), UINT64_MAX);
}

static void check_refused_relr(const uint64_t *relr, size_t n, const char *text)
{
    static struct fixture f;

    setup(&f);
    f.good.h.relr_count = n;
    put(&f, RELR, relr, n * sizeof *relr);
    CHECK(!run(&f) && strstr(f.why.text, text) != NULL);
    if (n == 2) /* the first word was good, and is written */
        check_word(&f, relr[0], word_at(f.before, relr[0]) + (uintptr_t)f.base - LO);
    teardown(&f);
}

static void relr_stays_inside_too(void)
{
    check_refused_relr((const uint64_t[]){3}, 1, "begins with a bitmap");
    check_refused_relr((const uint64_t[]){CODE}, 1, "outside");
    check_refused_relr((const uint64_t[]){DATA_END - 6}, 1, "outside");
    check_refused_relr((const uint64_t[]){0}, 1, "outside");
    check_refused_relr((const uint64_t[]){UINT64_MAX - 1}, 1, "outside");
    check_refused_relr((const uint64_t[]){DATA_END - 8, 3}, 2, "outside");
}

/* Without a writable segment there is no place at all, not even for the address that is one before zero. */
static void no_writable_segment_is_no_place(void)
{
    static struct fixture f;
    const struct entry e = {UINT64_MAX, INFO(0, RELATIVE), CODE};

    setup(&f);
    f.good.h.segment_count = 2;
    f.good.h.rela_count = 1;
    put(&f, RELA, &e, sizeof e);
    CHECK(!run(&f));
    teardown(&f);
}

/* An empty table is none, wherever it is said to lie. */
static void an_empty_table_has_no_place(void)
{
    static struct fixture f;

    setup(&f);
    f.good.h.rela = f.good.h.jmprel = f.good.h.relr = UINT64_C(1) << 63;
    CHECK(run(&f));
    teardown(&f);
}

/* A table in a writable segment can be a relocation's target: what is written is checked like what was read. */
static void a_table_that_changes_itself_is_safe(void)
{
    static struct fixture f;
    const struct entry rela[] = {{DATA + 24, INFO(2, WORD), 0}, {DATA, INFO(0, RELATIVE), CODE}};

    setup(&f);
    f.good.h.rela = DATA;
    f.good.h.rela_count = 2;
    put(&f, DATA, rela, sizeof rela);
    CHECK(!run(&f) && strstr(f.why.text, "got 0x4d") != NULL);
    check_word(&f, DATA + 24, 77);
    teardown(&f);
}

int main(void)
{
    every_type_writes_what_its_abi_says();
    relr_adds_the_base();
    nothing_else_is_written();
    relr_stays_inside_too();
    no_writable_segment_is_no_place();
    an_empty_table_has_no_place();
    a_table_that_changes_itself_is_safe();
    return 0;
}
