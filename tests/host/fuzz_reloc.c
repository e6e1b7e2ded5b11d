/* Any tables of relocations, for libFuzzer: the file may be rewritten after its check. Memory that no relocation may
 * touch is compared, and what lies around the image is the sanitizer's. */
#include "good_plan.h"
#include "load.h"

#include <stdlib.h>

#define COUNT 32u /* entries of each table */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
};

static uint8_t next_byte(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/* A word: any at all, or one close to where something begins or ends, or a type of relocation with a symbol. */
static uint64_t next_word(struct input *in)
{
    static const uint64_t near[] = {DATA, DATA_END - 8, DATA + 0x800, RODATA, CODE, HI, 0, UINT64_MAX};
    static const uint32_t types[] = {1, 6, 7, 8, 257, 1025, 1026, 1027};
    uint8_t kind = next_byte(in);
    uint64_t word = 0;

    if (kind < 0x80)
        return near[kind % 8] + next_byte(in) - 64;
    if (kind < 0xe0)
        return (uint64_t)(next_byte(in) % 8) << 32 | types[kind % 8];
    for (int i = 0; i < 8; i++)
        word = word << 8 | next_byte(in);
    return word;
}

static void fill(struct input *in, uint8_t *table, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t word = next_word(in);

        memcpy(table + i * 8, &word, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t values[5] = {0, 1, 2, 3, 4};
    struct input in = {data, size};
    struct good_plan good = good_plan();
    struct plan plan = view_of(&good);
    struct refusal why;
    uint8_t *base = calloc(1, HI - LO), *before = malloc(HI - LO);

    if (base == NULL || before == NULL)
        abort();
    good.h.rela = RELA;
    good.h.jmprel = DATA; /* where relocations write */
    good.h.relr = RELR;
    good.h.rela_count = next_byte(&in) % COUNT;
    good.h.jmprel_count = next_byte(&in) % COUNT;
    good.h.relr_count = next_byte(&in) % COUNT;
    fill(&in, base + (RELA - LO), good.h.rela_count * 3);
    fill(&in, base + (DATA - LO), good.h.jmprel_count * 3);
    fill(&in, base + (RELR - LO), good.h.relr_count);
    memcpy(before, base, HI - LO);
    (void)relocate(&plan, base, values, &why);
    if (memcmp(base, before, DATA - LO) != 0 ||
        memcmp(base + (DATA_END - LO), before + (DATA_END - LO), HI - DATA_END) != 0)
        abort();
    free(base);
    free(before);
    return 0;
}
