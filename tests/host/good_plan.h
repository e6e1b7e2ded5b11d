/* A plan in which every field means something, for tests to edit: three segments, every kind of table and of symbol. */
#ifndef TEST_GOOD_PLAN_H
#define TEST_GOOD_PLAN_H

#include <string.h>

#include "host.h"

#define LO 0x100000u
#define RODATA 0x100000u /* 0x2000 bytes at file offset 0 */
#define CODE 0x112000u   /* 0x1000 bytes at file offset 0x2000 */
#define DATA 0x123000u   /* 0x1000 bytes at file offset 0x3000, 0x3000 in memory */
#define DATA_END 0x126000u
#define HI 0x130000u
#define RELA (RODATA + 0x100)
#define JMPREL (RODATA + 0x400)
#define RELR (RODATA + 0x500)
#define IMAGE_SIZE 0x4000u
#define NAMES 0x1000u
#define STRINGS 0x1800u

/* The grammar of plan.h as it comes out for strings of these lengths. */
struct good_plan {
    struct plan_header h;
    struct plan_segment s[3];
    uint64_t values[5];
    uint8_t kinds[8];
    uint64_t path_length;
    char path[8];
    uint64_t build_id_length;
    char build_id[8];
    uint64_t report_dir_length;
    char report_dir[8];
    uint64_t run_length;
    char run[8];
    uint64_t preopens_length;
    char preopens[16];
    uint64_t runner_length;
    char runner[16];
    uint64_t imports_length;
    char imports[24];
};

static inline struct good_plan good_plan(void)
{
    struct good_plan p = {
        .h = {.magic = PLAN_MAGIC, .size = sizeof p, .machine = HOST_MACHINE, .file_fd = 9, .file_size = IMAGE_SIZE,
              .image_size = IMAGE_SIZE, .lo = LO, .hi = HI, .align = PLAN_PAGE, .entry = CODE, .stack = 0x20000,
              .version = UINT64_C(0x140000), .relro = DATA, .relro_size = HI - DATA, .init = CODE + 0x10,
              .fini = CODE + 0x20, .init_array = DATA, .init_count = 2, .fini_array = DATA + 0x10, .fini_count = 1,
              .rela = RELA, .rela_count = 4, .jmprel = JMPREL, .jmprel_count = 1, .relr = RELR, .relr_count = 3,
              .names = NAMES, .names_count = 2, .strings = STRINGS, .strings_size = 0x40,
              .measure = PLAN_MEASURE_CALLS, .segment_count = 3, .symbol_count = 5},
        .s = {{0, RODATA, 0x2000, 0x2000, PLAN_PROT_R},
              {0x2000, CODE, 0x1000, 0x1000, PLAN_PROT_R | PLAN_PROT_X},
              {0x3000, DATA, 0x1000, 0x3000, PLAN_PROT_R | PLAN_PROT_W}},
        .values = {0, DATA + 8, 77, 0, 9},
        .kinds = {PLAN_SYMBOL_IMAGE, PLAN_SYMBOL_IMAGE, PLAN_SYMBOL_ABSOLUTE, PLAN_SYMBOL_KAL, PLAN_SYMBOL_KAL_WEAK},
        .path_length = 4, .path = "a.ok", .build_id_length = 4, .build_id = "0aff", .report_dir_length = 3,
        .report_dir = "out", .run_length = 2, .run = "r1", .preopens_length = 9, .preopens = "7\0.\0" "12\0d", .runner_length = 12,
        .runner = "okrun\0--dir", .imports_length = 20, .imports = "kal_exit\0kal_foobar"};

    return p;
}

/* The view of a good plan, without the check that other tests are not about. */
static inline struct plan view_of(const struct good_plan *p)
{
    return (struct plan){.header = &p->h, .segments = p->s, .values = p->values, .kinds = p->kinds, .path = p->path,
                         .build_id = p->build_id, .report_dir = p->report_dir, .run = p->run,
                         .preopens = {p->preopens, p->preopens_length}, .runner = {p->runner, p->runner_length},
                         .imports = {p->imports, p->imports_length}};
}

#endif
