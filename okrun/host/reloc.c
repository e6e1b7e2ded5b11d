/* Relocation: one loop for RELA, one for RELR; a processor is a table of types. */
#include <string.h>

#include "load.h"

enum reloc_kind { RELOC_UNKNOWN, RELOC_BASE, RELOC_SYMBOL, RELOC_SYMBOL_ADDEND };

struct reloc_type {
    uint32_t type;
    enum reloc_kind kind;
};

#if defined(__x86_64__)
#define RELOC_RELATIVE 8u
static const struct reloc_type reloc_types[] = {
    {1, RELOC_SYMBOL_ADDEND}, /* R_X86_64_64 */
    {6, RELOC_SYMBOL},        /* R_X86_64_GLOB_DAT */
    {7, RELOC_SYMBOL},        /* R_X86_64_JUMP_SLOT */
    {8, RELOC_BASE},          /* R_X86_64_RELATIVE */
};
#elif defined(__aarch64__)
#define RELOC_RELATIVE 1027u
static const struct reloc_type reloc_types[] = {
    {257, RELOC_SYMBOL_ADDEND},  /* R_AARCH64_ABS64 */
    {1025, RELOC_SYMBOL_ADDEND}, /* R_AARCH64_GLOB_DAT */
    {1026, RELOC_SYMBOL_ADDEND}, /* R_AARCH64_JUMP_SLOT */
    {1027, RELOC_BASE},          /* R_AARCH64_RELATIVE */
};
#endif

struct rela {
    uint64_t offset, info, addend;
};

/* What both loops need. The segment of the last target is kept, as the next one is nearly always in it: its first
 * address, and at how many addresses from there eight bytes may begin; none before the first target. */
struct relocator {
    const struct plan *plan;
    uint8_t *base;
    uint64_t lo, bias; /* bias: run-time address minus link address */
    uint64_t first, places;
    struct refusal *why;
};

static bool find_writable(struct relocator *r, uint64_t addr)
{
    for (uint64_t i = 0; i < r->plan->header->segment_count; i++) {
        const struct plan_segment *s = &r->plan->segments[i];

        if ((s->prot & PLAN_PROT_W) != 0 && s->memsz >= 8 && addr >= s->vaddr && addr - s->vaddr <= s->memsz - 8) {
            r->first = s->vaddr;
            r->places = s->memsz - 7;
            return true;
        }
    }
    return false;
}

static inline bool writable(struct relocator *r, uint64_t addr)
{
    return addr - r->first < r->places || find_writable(r, addr);
}

static bool bad(struct relocator *r, const char *what, uint64_t got, uint64_t at)
{
    return refuse(r->why, "%s: %s (got %#lx, at address %#lx) [RUN-3]", r->plan->path, what, got, at);
}

static enum reloc_kind kind_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof reloc_types / sizeof reloc_types[0]; i++) {
        if (reloc_types[i].type == type)
            return reloc_types[i].kind;
    }
    return RELOC_UNKNOWN;
}

/* The value of any entry but a plain relative one. */
static bool value_of(struct relocator *r, const struct rela *e, const uint64_t *values, uint64_t at, uint64_t *value)
{
    const struct plan *plan = r->plan;
    uint64_t symbol = e->info >> 32;
    enum reloc_kind kind = kind_of((uint32_t)e->info);

    if (kind == RELOC_UNKNOWN)
        return bad(r, "unknown relocation type", e->info & 0xffffffff, at);
    if (kind == RELOC_BASE)
        return bad(r, "a relative relocation names a symbol", symbol, at);
    if (symbol == 0 || symbol >= plan->header->symbol_count)
        return bad(r, "no such symbol for a relocation", symbol, at);
    if (plan->kinds[symbol] >= PLAN_SYMBOL_KAL && e->addend != 0)
        return bad(r, "an addend on an imported symbol", e->addend, at);
    *value = values[symbol] + (kind == RELOC_SYMBOL_ADDEND ? e->addend : 0);
    return true;
}

/* Requires: the table [addr, addr + 24 * count) is mapped, as plan_decode found. Each entry is copied before it is
 * checked, as a relocation may write into the table itself. */
static bool apply_rela(struct relocator *r, uint64_t addr, uint64_t count, const uint64_t *values)
{
    for (uint64_t i = 0; i < count; i++) {
        struct rela e;
        uint64_t value = 0;

        memcpy(&e, r->base + (addr - r->lo) + i * sizeof e, sizeof e);
        if (e.info == RELOC_RELATIVE)
            value = e.addend + r->bias;
        else if (!value_of(r, &e, values, addr + i * sizeof e, &value))
            return false;
        if (!writable(r, e.offset))
            return bad(r, "a relocation outside the writable segments", e.offset, addr + i * sizeof e);
        memcpy(r->base + (e.offset - r->lo), &value, sizeof value);
    }
    return true;
}

static inline bool apply_relr_word(struct relocator *r, uint64_t target, uint64_t at)
{
    uint64_t value;

    if (!writable(r, target))
        return bad(r, "a relocation outside the writable segments", target, at);
    memcpy(&value, r->base + (target - r->lo), sizeof value);
    value += r->bias;
    memcpy(r->base + (target - r->lo), &value, sizeof value);
    return true;
}

/* An even word is an address to relocate; an odd one a bitmap of the 63 words after the last. */
static bool apply_relr(struct relocator *r, uint64_t addr, uint64_t count)
{
    uint64_t next = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t word, at = addr + i * 8;

        memcpy(&word, r->base + (addr - r->lo) + i * 8, sizeof word);
        if ((word & 1) == 0) {
            if (!apply_relr_word(r, word, at))
                return false;
            next = word + 8;
            continue;
        }
        if (i == 0)
            return bad(r, "RELR begins with a bitmap", word, at);
        for (uint64_t target = next, bits = word >> 1; bits != 0; target += 8, bits >>= 1) {
            if ((bits & 1) != 0 && !apply_relr_word(r, target, at))
                return false;
        }
        next += UINT64_C(63) * 8;
    }
    return true;
}

bool relocate(const struct plan *plan, uint8_t *base, const uint64_t *values, struct refusal *why)
{
    const struct plan_header *h = plan->header;
    struct relocator r = {.plan = plan, .base = base, .lo = h->lo, .bias = (uintptr_t)base - h->lo, .why = why};

    return apply_relr(&r, h->relr, h->relr_count) && apply_rela(&r, h->rela, h->rela_count, values) &&
           apply_rela(&r, h->jmprel, h->jmprel_count, values);
}
