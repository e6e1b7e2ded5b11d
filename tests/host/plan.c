/* The one check of a plan: a good one decodes to what was written, and every edit of it is refused by name. */
#include "check.h"
#include "good_plan.h"

/* Decode from a block of exactly the size, so that a sanitizer sees every byte read outside it. */
static bool decode(const void *bytes, size_t size, struct refusal *why)
{
    struct plan plan;
    void *exact = malloc(size != 0 ? size : 1);
    bool good;

    CHECK(exact != NULL);
    memcpy(exact, bytes, size);
    good = plan_decode(exact, size, &plan, why);
    free(exact);
    return good;
}

static void check_refused(struct good_plan p, const char *text, int line)
{
    struct refusal why = {""};

    if (decode(&p, sizeof p, &why) || strstr(why.text, text) == NULL || strstr(why.text, "[PLAN-2]") == NULL) {
        fprintf(stderr, "line %d: want \"%s\", got \"%s\"\n", line, text, why.text);
        exit(1);
    }
}

/* A good plan but for one edit is refused, with this text. */
#define REFUSED(edit, text)                                                                                            \
    do {                                                                                                               \
        struct good_plan p = good_plan();                                                                              \
        edit;                                                                                                          \
        check_refused(p, text, __LINE__);                                                                              \
    } while (0)

/* A good plan but for one edit is as good. */
#define ACCEPTED(edit)                                                                                                 \
    do {                                                                                                               \
        struct good_plan p = good_plan();                                                                              \
        struct refusal why;                                                                                            \
        edit;                                                                                                          \
        CHECK(decode(&p, sizeof p, &why));                                                                             \
    } while (0)

static void good_plan_decodes(void)
{
    struct good_plan p = good_plan();
    struct plan plan;
    struct refusal why;

    CHECK(plan_decode(&p, sizeof p, &plan, &why));
    CHECK(plan.header == &p.h && plan.segments == p.s && plan.values == p.values && plan.kinds == p.kinds);
    CHECK(strcmp(plan.path, "a.ok") == 0 && strcmp(plan.build_id, "0aff") == 0 && strcmp(plan.report_dir, "out") == 0);
    CHECK(strcmp(plan.run, "r1") == 0);
    CHECK(plan.imports.size == 20 && strcmp(plan.imports.at + 9, "kal_foobar") == 0);
}

static void header_is_checked(void)
{
    REFUSED(p.h.magic ^= 1, "another format");
    REFUSED(p.h.machine = HOST_MACHINE == 62 ? 183 : 62, "another processor");
    REFUSED(p.h.size -= 8, "size");
    REFUSED(p.h.segment_count = 0, "segments");
    REFUSED(p.h.segment_count = 65, "segments");
    REFUSED(p.h.segment_count = 64, "cut");
    REFUSED(p.h.symbol_count = UINT64_MAX, "symbols");
    REFUSED(p.h.symbol_count = 1 << 20, "cut");
    REFUSED(p.h.measure = 32, "measure");
    REFUSED((p.h.measure = 0, memset(p.run, 0, 8), p.run_length = 0), "measure");
    REFUSED((p.h.measure = 0, memset(p.report_dir, 0, 8), p.report_dir_length = 0), "measure");
    ACCEPTED(p.h.measure = PLAN_MEASURE_ALL);
    REFUSED(p.h.align = 0, "alignment");
    REFUSED(p.h.align = PLAN_PAGE / 2, "alignment");
    REFUSED(p.h.align = 3 * PLAN_PAGE, "alignment");
    REFUSED(p.h.align = UINT64_C(1) << 22, "alignment");
    REFUSED(p.h.stack = 0, "stack");
    REFUSED(p.h.stack = 0x20001, "stack");
    REFUSED(p.h.stack = UINT64_C(0x40010000), "stack");
}

static void file_is_checked(void)
{
    REFUSED(p.h.file_fd = 2, "file descriptor");
    REFUSED(p.h.file_fd = UINT64_C(1) << 32, "file descriptor");
    REFUSED(p.h.image_offset = 0x1000, "image offset");
    REFUSED(p.h.image_offset = 0x10000, "image offset");
    REFUSED(p.h.image_size = IMAGE_SIZE + 1, "image size");
    REFUSED((p.h.file_size = UINT64_MAX, p.h.image_offset = 0), "file size");
    REFUSED(p.h.names_dynamic = 2, "names_dynamic");
    REFUSED(p.h.names_count = UINT64_MAX / 24 + 2, "names");
    REFUSED(p.h.names = IMAGE_SIZE - 47, "offset of the names");
    REFUSED(p.h.strings = IMAGE_SIZE - 0x3f, "strings");
    REFUSED(p.h.strings_size = UINT64_MAX, "strings");
    ACCEPTED((p.h.image_offset = 0x10000, p.h.file_size += 0x10000));
    ACCEPTED(p.h.names = IMAGE_SIZE - 48);
}

static void segments_are_checked(void)
{
    REFUSED(p.h.lo = LO + 0x1000, "address range");
    REFUSED(p.h.hi = LO, "address range");
    REFUSED(p.h.hi = (UINT64_C(1) << 40) + 0x10000, "address range");
    REFUSED(p.h.hi = LO + (UINT64_C(1) << 30) + 0x10000, "address range");
    REFUSED(p.h.lo = RODATA + 0x10000, "begins too low");
    REFUSED(p.h.hi = 0x120000, "ends too high");
    REFUSED(p.s[0].prot = PLAN_PROT_W, "permissions");
    REFUSED(p.s[1].prot = 7, "permissions");
    REFUSED(p.s[0].prot = 12, "permissions");
    REFUSED(p.s[0].memsz = p.s[0].filesz = 0, "file size");
    REFUSED(p.s[2].filesz = 0x3001, "file size");
    REFUSED(p.s[1].memsz = 0x1001, "file size");
    REFUSED((p.s[1].vaddr = RODATA + 0x2000, p.s[1].offset = 0x2000), "begins too low"); /* the same 64 KiB page */
    REFUSED(p.s[2].memsz = HI - DATA + 1, "ends too high");
    REFUSED(p.s[2].memsz = UINT64_MAX, "ends too high");
    REFUSED(p.s[2].vaddr = UINT64_MAX - 0xcfff, "ends too high");
    REFUSED(p.s[2].offset = IMAGE_SIZE - 0xfff, "offset of a segment");
    REFUSED(p.s[2].offset = UINT64_MAX, "offset of a segment");
    REFUSED(p.s[1].offset = 0x1000, "within its page");
}

static void places_are_checked(void)
{
    REFUSED(p.h.entry = DATA, "entry");
    REFUSED(p.h.entry = CODE + 0x1000, "entry");
    REFUSED(p.h.init = RODATA, "init");
    REFUSED(p.h.fini = CODE - 1, "fini");
    REFUSED(p.h.init_array = RODATA, "init array");
    REFUSED(p.h.init_array = DATA + 4, "init array");
    REFUSED(p.h.init_array = DATA + 0xff8, "init array");
    REFUSED(p.h.init_count = 8193, "init array");
    REFUSED(p.h.fini_array = DATA + 0x1000, "fini array");
    REFUSED(p.h.fini_count = UINT64_MAX, "fini array");
    REFUSED(p.h.rela = RODATA + 0x2000 - 72, "rela");
    REFUSED(p.h.rela_count = (1 << 24) + 1, "rela");
    REFUSED(p.h.jmprel = CODE + 0xff0, "jmprel");
    REFUSED(p.h.relr = HI, "relr");
    REFUSED(p.h.relr += 4, "relr");
    REFUSED(p.h.relro = CODE, "relro");
    REFUSED(p.h.relro_size = HI - DATA + 1, "relro");
    REFUSED(p.h.relro_size = UINT64_MAX, "relro");
    ACCEPTED(p.h.rela = RODATA + 0x2000 - 96);
    ACCEPTED((p.h.init = 0, p.h.fini = 0, p.h.relro = 0, p.h.relro_size = 0));
    ACCEPTED((p.h.rela = 0, p.h.rela_count = 0, p.h.init_array = 1, p.h.init_count = 0));
}

static void symbols_are_checked(void)
{
    REFUSED(p.kinds[1] = 4, "kind");
    REFUSED(p.values[1] = HI + 1, "value");
    REFUSED(p.values[1] = LO - 1, "value");
    REFUSED(p.values[3] = 1, "import");
    REFUSED(p.values[4] = 8, "import");
    REFUSED(p.values[4] = 20, "import");
    REFUSED(p.values[4] = UINT64_MAX, "import");
    ACCEPTED(p.values[1] = HI);
    ACCEPTED(p.values[2] = UINT64_MAX);
}

static void strings_are_checked(void)
{
    REFUSED(p.kinds[5] = 1, "cut");
    REFUSED(p.path_length = 7, "path");
    REFUSED(p.path_length = 8, "string");
    REFUSED(p.path_length = UINT64_MAX, "string");
    REFUSED(p.path[1] = 0, "path");
    REFUSED(p.path[4] = 'x', "string");
    REFUSED(p.path[7] = 'x', "string");
    REFUSED(p.build_id[0] = 'G', "hexadecimal");
    REFUSED(p.report_dir[0] = 0, "path");
    REFUSED(p.run[0] = 0, "run");
    REFUSED(p.preopens[0] = '2', "descriptor");
    REFUSED(p.preopens[0] = 'x', "descriptor");
    REFUSED(p.preopens[0] = 0, "descriptor");
    REFUSED(p.preopens[2] = 0, "no name");
    REFUSED(p.preopens_length = 7, "string");
    ACCEPTED(p.preopens[0] = '3');
    REFUSED(p.runner[11] = 'x', "string");
    REFUSED((p.imports[19] = 'x'), "string");
    REFUSED((p.imports_length = 24), "string");
}

/* No bytes make the check read outside them, whatever it says of them: cut anywhere, longer, any one byte changed. */
static void any_bytes_are_safe(void)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    struct good_plan p = good_plan();
    uint8_t longer[sizeof p + 8] = {0};
    struct refusal why;

    for (size_t size = 0; size < sizeof p; size++) {
        p.h.size = size;
        CHECK(!decode(&p, size, &why));
    }
    p = good_plan();
    memcpy(longer, &p, sizeof p);
    CHECK(!decode(longer, sizeof longer, &why));
    ((struct good_plan *)(void *)longer)->h.size = sizeof longer;
    CHECK(!decode(longer, sizeof longer, &why) && strstr(why.text, "after its end") != NULL);
    for (size_t i = 0; i < sizeof p; i++) {
        for (size_t change = 0; change < sizeof changes; change++) {
            p = good_plan();
            ((uint8_t *)&p)[i] ^= changes[change];
            (void)decode(&p, sizeof p, &why);
        }
    }
}

int main(void)
{
    good_plan_decodes();
    header_is_checked();
    file_is_checked();
    segments_are_checked();
    places_are_checked();
    symbols_are_checked();
    strings_are_checked();
    any_bytes_are_safe();
    return 0;
}
