/* Names for addresses: one pass over the file's symbol table, a few thousand entries at a time.
 *
 * What is kept on the way is three symbols: the best of those that hold the address; and, for symbols of size 0, which
 * reach to the next symbol, the best of those at the greatest value not above the address, labels without a type kept
 * apart, as a label inside a sized symbol is none and only a second pass can tell that. */
#include <errno.h>

#include "host.h"
#include "load.h"
#include "names.h"
#include "symtab.h"

struct candidate {
    Elf64_Sym symbol;
    unsigned rank; /* the order of aliases, 0 first; SYMTAB_NO_RANK: there is no candidate */
};

struct search {
    struct symtab table;
    uint64_t address;
    struct candidate holds, nearest, label; /* nearest and label are at `value` and of size 0 */
    uint64_t value;                         /* the greatest st_value not above the address */
    bool any;                               /* there is such a value */
};

static void prefer(struct candidate *best, const Elf64_Sym *y, unsigned rank)
{
    if (rank < best->rank)
        *best = (struct candidate){.symbol = *y, .rank = rank};
}

/* Is y, which holds the address, further inside than the best so far, or its alias?           SPEC: SYM-3 */
static void hold(struct search *s, const Elf64_Sym *y, unsigned rank)
{
    const Elf64_Sym *best = &s->holds.symbol;

    if (s->holds.rank != SYMTAB_NO_RANK) {
        if (y->st_value < best->st_value || (y->st_value == best->st_value && y->st_size > best->st_size))
            return;
        if (y->st_value != best->st_value || y->st_size != best->st_size)
            s->holds.rank = SYMTAB_NO_RANK;
    }
    prefer(&s->holds, y, rank);
}

static void consider(void *argument, const Elf64_Sym *y)
{
    struct search *s = argument;
    unsigned rank;

    if (!symtab_can_answer(y) || y->st_value > s->address || (s->any && y->st_size == 0 && y->st_value < s->value))
        return;
    if (y->st_size != 0 && s->address - y->st_value >= y->st_size && s->any && y->st_value <= s->value)
        return;
    rank = symtab_rank(&s->table, y);
    if (rank == SYMTAB_NO_RANK)
        return;
    if (s->address - y->st_value < y->st_size)
        hold(s, y, rank);
    if (!s->any || y->st_value > s->value) {
        s->any = true;
        s->value = y->st_value;
        s->nearest.rank = s->label.rank = SYMTAB_NO_RANK;
    }
    if (y->st_size == 0 && y->st_value == s->value)
        prefer(ELF64_ST_TYPE(y->st_info) == STT_NOTYPE ? &s->label : &s->nearest, y, rank);
}

/* Does a sized symbol hold the value? Only asked of a value that has a label of size 0. */
static void consider_around(void *argument, const Elf64_Sym *y)
{
    struct search *s = argument;

    if (symtab_can_answer(y) && y->st_value <= s->value && s->value - y->st_value < y->st_size &&
        symtab_rank(&s->table, y) != SYMTAB_NO_RANK)
        s->label.rank = SYMTAB_NO_RANK;
}

static const struct plan_segment *segment_of(const struct plan *plan, uint64_t address)
{
    for (uint64_t i = 0; i < plan->header->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];

        if (address >= s->vaddr && address - s->vaddr < s->memsz)
            return s;
    }
    return NULL;
}

/* The answer of a scan: the innermost symbol that holds the address, else one of size 0.      SPEC: SYM-3, SYM-4 */
static const struct candidate *choose(struct search *s)
{
    const struct candidate *best = &s->nearest;

    if (s->holds.rank != SYMTAB_NO_RANK)
        return &s->holds;
    if (s->label.rank != SYMTAB_NO_RANK)
        symtab_each(&s->table, consider_around, s);
    if (s->label.rank < best->rank)
        best = &s->label;
    if (best->rank == SYMTAB_NO_RANK || segment_of(s->table.plan, s->value) != segment_of(s->table.plan, s->address) ||
        (s->table.plan->header->names_dynamic != 0 && s->value != s->address))
        return NULL;
    return best;
}

int names_lookup_link(const struct plan *plan, int fd, uint64_t address, char *out, size_t cap, size_t *length,
                      uint64_t *offset)
{
    struct search s = {.address = address};
    const struct candidate *found = NULL;
    int saved = errno;

    s.holds.rank = s.nearest.rank = s.label.rank = SYMTAB_NO_RANK;
    if (segment_of(plan, address) != NULL && symtab_open(&s.table, plan, fd)) {
        symtab_each(&s.table, consider, &s);
        found = choose(&s);
    }
    if (found != NULL) {
        *length = symtab_name(&s.table, found->symbol.st_name, out, cap);
        *offset = address - found->symbol.st_value;
    }
    errno = saved;
    return found != NULL;
}

int names_lookup(uintptr_t run_time_address, char *out, size_t cap, size_t *length, uint64_t *offset)
{
    const struct plan_header *h = host_image.plan->header;
    uint64_t distance = run_time_address - (uintptr_t)host_image.base;

    if (distance >= h->hi - h->lo)
        return 0;
    return names_lookup_link(host_image.plan, host_image.fd, h->lo + distance, out, cap, length, offset);
}
