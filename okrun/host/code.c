/* Ranges of code by one sweep over the symbols in the order of their addresses.
 *
 * The symbols that have begun and may still go on lie on a stack, the innermost on top. When one ends, what lies below
 * goes on, unless it ended before: then it is thrown away only now, when it comes to light. */
#include "code.h"

#include <string.h>
#include <sys/mman.h>

#include "host.h"

struct symbol {
    uint64_t start, size;
    uint32_t name;
    unsigned rank;
    bool label; /* it has no type */
};

struct sweep {
    struct code *code;
    struct symbol *symbols, *spare; /* room for as many; the stack lies in the other's */
    size_t count, most, depth;
    const struct symbol *unsized; /* of size 0, at the last start; or null */
    uint64_t at;                  /* up to where there are ranges */
};

static uint64_t end_of(const struct symbol *s)
{
    return s->size > UINT64_MAX - s->start ? UINT64_MAX : s->start + s->size;
}

static bool is_code(const struct plan_segment *s)
{
    return (s->prot & PLAN_PROT_X) != 0;
}

/* Whether a symbol lies in code, in part at least, so that it can be the name of some. */
static bool touches_code(const struct plan *plan, const Elf64_Sym *y)
{
    for (uint64_t i = 0; i < plan->header->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];

        if (is_code(s) && (y->st_value >= s->vaddr ? y->st_value - s->vaddr < s->memsz
                                                   : s->vaddr - y->st_value < y->st_size))
            return true;
    }
    return false;
}

static void count_symbol(void *argument, const Elf64_Sym *y)
{
    struct sweep *sweep = argument;

    if (symtab_can_answer(y) && touches_code(sweep->code->table.plan, y))
        sweep->most++;
}

static void take_symbol(void *argument, const Elf64_Sym *y)
{
    struct sweep *sweep = argument;
    struct symtab *table = &sweep->code->table;
    unsigned rank;

    if (sweep->count == sweep->most || !symtab_can_answer(y) || !touches_code(table->plan, y))
        return; /* the file may have changed since they were counted */
    rank = symtab_rank(table, y);
    if (rank != SYMTAB_NO_RANK)
        sweep->symbols[sweep->count++] = (struct symbol){.start = y->st_value, .size = y->st_size, .name = y->st_name,
                                                         .rank = rank, .label = ELF64_ST_TYPE(y->st_info) == STT_NOTYPE};
}

/* By start; then the larger, which what is inside it follows; then by the order of aliases.   SPEC: SYM-3, SYM-5 */
static bool is_before(const struct symbol *a, const struct symbol *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    return a->size != b->size ? a->size > b->size : a->rank < b->rank;
}

/* Merge sort, as qsort() allocates. Equals stay in the order of the table. */
static void sort(struct sweep *sweep)
{
    size_t n = sweep->count;

    for (size_t width = 1; width < n; width *= 2) {
        struct symbol *from = sweep->symbols, *to = sweep->spare;

        for (size_t at = 0; at < n; at += 2 * width) {
            size_t middle = width < n - at ? at + width : n, end = width < n - middle ? middle + width : n;
            size_t left = at, right = middle;

            for (size_t i = at; i < end; i++) {
                bool take_right = left == middle || (right < end && is_before(&from[right], &from[left]));

                to[i] = from[take_right ? right++ : left++];
            }
        }
        sweep->symbols = to;
        sweep->spare = from;
    }
}

/* Add what of [from, to) is code, which the segments say: there may be several. */
static void add(struct sweep *sweep, uint64_t from, uint64_t to, uint32_t name)
{
    const struct plan *plan = sweep->code->table.plan;

    for (uint64_t i = 0; i < plan->header->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];
        uint64_t start = from > s->vaddr ? from : s->vaddr, end = to < s->vaddr + s->memsz ? to : s->vaddr + s->memsz;

        if (is_code(s) && start < end)
            sweep->code->ranges[sweep->code->count++] = (struct code_range){start, end, name};
    }
}

/* Up to where a symbol of size 0 reaches, if no other begins before.                            SPEC: SYM-4 */
static uint64_t reach_of(const struct plan *plan, const struct symbol *symbol)
{
    uint64_t reach = symbol->start + 1;

    for (uint64_t i = 0; plan->header->names_dynamic == 0 && i < plan->header->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];

        if (symbol->start >= s->vaddr && symbol->start - s->vaddr < s->memsz)
            reach = s->vaddr + s->memsz;
    }
    return reach;
}

/* The innermost symbol that goes on at an address, or null. */
static const struct symbol *innermost(struct sweep *sweep, uint64_t address)
{
    while (sweep->depth > 0 && end_of(&sweep->spare[sweep->depth - 1]) <= address)
        sweep->depth--;
    return sweep->depth > 0 ? &sweep->spare[sweep->depth - 1] : NULL;
}

/* Name the addresses up to one, before which nothing begins. */
static void sweep_to(struct sweep *sweep, uint64_t to)
{
    while (sweep->at < to) {
        const struct symbol *s = innermost(sweep, sweep->at);
        uint64_t end = to;

        if (s == NULL) {
            s = sweep->unsized;
            if (s != NULL)
                end = reach_of(sweep->code->table.plan, s);
        } else {
            end = end_of(s);
        }
        end = end < to ? end : to;
        if (s == NULL || end <= sweep->at)
            break;
        add(sweep, sweep->at, end, s->name);
        sweep->at = end;
    }
    sweep->at = to;
}

/* Take in the symbols that begin at one address, from the i-th on; the index of the next. */
static size_t begin_all(struct sweep *sweep, size_t i)
{
    uint64_t start = sweep->symbols[i].start;

    sweep->unsized = NULL;
    for (; i < sweep->count && sweep->symbols[i].start == start; i++) {
        const struct symbol *s = &sweep->symbols[i];
        const struct symbol *outer = innermost(sweep, start);

        if (s->size != 0) {
            if (outer == NULL || outer->start != start || outer->size != s->size) /* else an alias */
                sweep->spare[sweep->depth++] = *s;
        } else if (sweep->unsized == NULL && !(s->label && outer != NULL)) {
            sweep->unsized = s;
        }
    }
    return i;
}

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Requires: there is room for `most` symbols, and for their ranges. */
static void sweep_all(struct sweep *sweep)
{
    symtab_each(&sweep->code->table, take_symbol, sweep);
    sort(sweep);
    for (size_t i = 0; i < sweep->count;) {
        sweep_to(sweep, sweep->symbols[i].start);
        i = begin_all(sweep, i);
    }
    sweep_to(sweep, UINT64_MAX);
}

/* Every range ends where a symbol begins or ends, or a segment. */
static bool make(struct sweep *sweep)
{
    struct code *code = sweep->code;
    size_t size = sweep->most * sizeof *sweep->symbols;
    struct symbol *symbols = map(2 * size);

    code->room = (2 * sweep->most + (size_t)code->table.plan->header->segment_count) * sizeof *code->ranges;
    code->ranges = map(code->room);
    if (symbols != NULL && code->ranges != NULL) {
        sweep->symbols = symbols;
        sweep->spare = symbols + sweep->most;
        sweep_all(sweep);
    }
    if (symbols != NULL)
        munmap(symbols, 2 * size);
    return symbols != NULL && code->ranges != NULL;
}

bool code_read(struct code *code, const struct plan *plan, int fd, const char **reason)
{
    struct sweep sweep = {.code = code};

    code->ranges = NULL;
    code->count = 0;
    *reason = "its file changed after it was started";
    if (!symtab_open(&code->table, plan, fd))
        return false;
    symtab_each(&code->table, count_symbol, &sweep);
    *reason = "it has no symbols of its code";
    if (sweep.most == 0)
        return false;
    *reason = "no memory for its symbols";
    if (make(&sweep))
        return true;
    code_free(code);
    return false;
}

const struct code_range *code_find(const struct code *code, uint64_t address)
{
    size_t low = 0, high = code->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (code->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->ranges[low].start <= address ? &code->ranges[low] : NULL;
}

size_t code_name(struct code *code, const struct code_range *range, char *out, size_t cap)
{
    return symtab_name(&code->table, range->name, out, cap);
}

void code_free(struct code *code)
{
    if (code->ranges != NULL)
        munmap(code->ranges, code->room);
    code->ranges = NULL;
    code->count = 0;
}
