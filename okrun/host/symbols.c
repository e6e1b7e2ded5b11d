/* Names for addresses: one pass over the file's symbol table, a few thousand entries at a time.
 *
 * What is kept on the way is three symbols: the best of those that hold the address; and, for symbols of size 0, which
 * reach to the next symbol, the best of those at the greatest value not above the address, labels without a type kept
 * apart, as a label inside a sized symbol is none and only a second pass can tell that. */
#define _GNU_SOURCE /* memrchr */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "load.h"
#include "names.h"

#define CHUNK 128u   /* symbols a read: 3 KiB, as the stack may be a signal handler's */
#define WINDOW 4096u /* bytes of the string table a read: linkers write names in the order of the symbols */
#define NAME_START 64u /* how much of a name decides among aliases */

struct candidate {
    Elf64_Sym symbol;
    unsigned rank; /* the order of aliases, 0 first; NONE: there is no candidate */
};

enum { NONE = ~0u };

struct search {
    const struct plan *plan;
    int fd;
    uint64_t address;
    struct candidate holds, nearest, label; /* nearest and label are at `value` and of size 0 */
    uint64_t value;                         /* the greatest st_value not above the address */
    bool any;                               /* there is such a value */
    char window[WINDOW];                    /* window_size bytes of the string table, from its byte window_at */
    uint64_t window_at;
    size_t window_size;
    uint64_t names_end; /* past the last NUL of the string table: no name that begins here or later has an end */
};

static const char corrupt[] = "<corrupt>"; /* the name of a symbol whose name is not in the table */

/* Read as much of n bytes of the image at a file offset as there is. */
static size_t read_image(const struct search *s, void *out, size_t n, uint64_t offset)
{
    size_t done = 0;

    while (done < n) {
        uint64_t at = s->plan->header->image_offset + offset + done;
        ssize_t got = pread(s->fd, (char *)out + done, n - done, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* Make the window hold n bytes of the string table at `at`; the number that there are, at most n. */
static size_t look(struct search *s, uint64_t at, size_t n)
{
    const struct plan_header *h = s->plan->header;
    uint64_t left = h->strings_size - at;

    if (n > left)
        n = (size_t)left;
    if (at < s->window_at || at - s->window_at > s->window_size || s->window_size - (at - s->window_at) < n) {
        s->window_at = at;
        s->window_size = read_image(s, s->window, left < WINDOW ? (size_t)left : WINDOW, h->strings + at);
        if (n > s->window_size)
            n = s->window_size;
    }
    return n;
}

static void find_names_end(struct search *s)
{
    uint64_t end = s->plan->header->strings_size;

    while (end != 0) {
        uint64_t start = end < WINDOW ? 0 : end - WINDOW;
        size_t n = look(s, start, (size_t)(end - start));
        const char *nul = memrchr(s->window + (start - s->window_at), 0, n);

        if (nul != NULL) {
            s->names_end = s->window_at + (uint64_t)(nul - s->window) + 1;
            return;
        }
        end = start;
    }
}

/* The first bytes of a name, at most most, in *name; how many there are. */
static size_t name_start(struct search *s, uint64_t at, size_t most, const char **name)
{
    size_t n;

    if (at >= s->names_end) {
        *name = corrupt;
        return strnlen(corrupt, most);
    }
    n = look(s, at, most);
    *name = s->window + (at - s->window_at);
    return strnlen(*name, n);
}

/* $a, $d, $t, $x, alone or before a dot, mark what follows them as code or data: they name nothing. In .symtab a
 * version may follow, which is no part of the name. */
static bool is_mapping_symbol(const struct search *s, const char *name, size_t n)
{
    return n >= 2 && name[0] == '$' && memchr("adtx", name[1], 4) != NULL &&
           (n == 2 || name[2] == '.' || (name[2] == '@' && s->plan->header->names_dynamic == 0));
}

/* Can the symbol be an answer, its name aside?                                                SPEC: SYM-2 */
static bool is_candidate(const Elf64_Sym *y)
{
    unsigned type = ELF64_ST_TYPE(y->st_info);

    return y->st_name != 0 && y->st_shndx != SHN_UNDEF && (y->st_shndx < SHN_LORESERVE || y->st_shndx == SHN_XINDEX) &&
           (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

/* Where a symbol stands among aliases; its name begins with the n bytes at name.              SPEC: SYM-5 */
static unsigned rank_of(const Elf64_Sym *y, const char *name, size_t n)
{
    unsigned binding = ELF64_ST_BIND(y->st_info), type = ELF64_ST_TYPE(y->st_info), underscores = 0;
    unsigned b = binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
    unsigned t = type == STT_FUNC ? 0 : type == STT_GNU_IFUNC ? 1 : type == STT_OBJECT ? 2 : 3;

    while (underscores < n && name[underscores] == '_')
        underscores++;
    return b << 16 | t << 8 | underscores;
}

static void prefer(struct candidate *best, const Elf64_Sym *y, unsigned rank)
{
    if (rank < best->rank)
        *best = (struct candidate){.symbol = *y, .rank = rank};
}

/* Is y, which holds the address, further inside than the best so far, or its alias?           SPEC: SYM-3 */
static void hold(struct search *s, const Elf64_Sym *y, unsigned rank)
{
    const Elf64_Sym *best = &s->holds.symbol;

    if (s->holds.rank != NONE) {
        if (y->st_value < best->st_value || (y->st_value == best->st_value && y->st_size > best->st_size))
            return;
        if (y->st_value != best->st_value || y->st_size != best->st_size)
            s->holds.rank = NONE;
    }
    prefer(&s->holds, y, rank);
}

static void consider(struct search *s, const Elf64_Sym *y)
{
    const char *name;
    size_t n;
    unsigned rank;

    if (!is_candidate(y) || y->st_value > s->address || (s->any && y->st_size == 0 && y->st_value < s->value))
        return;
    if (y->st_size != 0 && s->address - y->st_value >= y->st_size && s->any && y->st_value <= s->value)
        return;
    n = name_start(s, y->st_name, NAME_START, &name);
    if (n == 0 || is_mapping_symbol(s, name, n))
        return;
    rank = rank_of(y, name, n);
    if (s->address - y->st_value < y->st_size)
        hold(s, y, rank);
    if (!s->any || y->st_value > s->value) {
        s->any = true;
        s->value = y->st_value;
        s->nearest.rank = s->label.rank = NONE;
    }
    if (y->st_size == 0 && y->st_value == s->value)
        prefer(ELF64_ST_TYPE(y->st_info) == STT_NOTYPE ? &s->label : &s->nearest, y, rank);
}

/* Does a sized symbol hold the value? Only asked of a value that has a label of size 0. */
static void consider_around(struct search *s, const Elf64_Sym *y)
{
    const char *name;
    size_t n;

    if (!is_candidate(y) || y->st_value > s->value || s->value - y->st_value >= y->st_size)
        return;
    n = name_start(s, y->st_name, NAME_START, &name);
    if (n != 0 && !is_mapping_symbol(s, name, n))
        s->label.rank = NONE;
}

static void scan(struct search *s, void (*each)(struct search *, const Elf64_Sym *))
{
    Elf64_Sym chunk[CHUNK];
    uint64_t left = s->plan->header->names_count, offset = s->plan->header->names;

    while (left != 0) {
        size_t want = left < CHUNK ? (size_t)left : CHUNK;
        size_t got = read_image(s, chunk, want * sizeof chunk[0], offset) / sizeof chunk[0];

        for (size_t i = 0; i < got; i++)
            each(s, &chunk[i]);
        if (got != want)
            return;
        left -= got;
        offset += got * sizeof chunk[0];
    }
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

    if (s->holds.rank != NONE)
        return &s->holds;
    if (s->label.rank != NONE)
        scan(s, consider_around);
    if (s->label.rank < best->rank)
        best = &s->label;
    if (best->rank == NONE || segment_of(s->plan, s->value) != segment_of(s->plan, s->address) ||
        (s->plan->header->names_dynamic != 0 && s->value != s->address))
        return NULL;
    return best;
}

/* Copy up to cap bytes of the name, and count all of it. The version that linkers add in .symtab is no part of it. */
static size_t copy_name(struct search *s, uint64_t at, char *out, size_t cap)
{
    size_t length = 0, n, kept;

    do {
        const char *part, *version = NULL;
        size_t first = length == 0 ? 1 : 0;

        n = name_start(s, at + length, WINDOW, &part);
        if (s->plan->header->names_dynamic == 0 && n > first)
            version = memchr(part + first, '@', n - first);
        kept = version != NULL ? (size_t)(version - part) : n;
        if (length < cap)
            memcpy(out + length, part, kept < cap - length ? kept : cap - length);
        length += kept;
    } while (kept == WINDOW);
    return length;
}

int names_lookup_link(const struct plan *plan, int fd, uint64_t address, char *out, size_t cap, size_t *length,
                      uint64_t *offset)
{
    struct search s = {.plan = plan, .fd = fd, .address = address};
    const struct candidate *found = NULL;
    int saved = errno;

    s.holds.rank = s.nearest.rank = s.label.rank = NONE;
    if (segment_of(plan, address) != NULL && same_file(plan->header, fd)) {
        find_names_end(&s);
        scan(&s, consider);
        found = choose(&s);
    }
    if (found != NULL) {
        *length = copy_name(&s, found->symbol.st_name, out, cap);
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
