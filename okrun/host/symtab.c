#define _GNU_SOURCE /* memrchr */
#include "symtab.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

#define CHUNK 128u     /* symbols a read: 3 KiB, as the stack may be a signal handler's */
#define NAME_START 64u /* how much of a name decides among aliases */

static const char corrupt[] = "<corrupt>"; /* the name of a symbol whose name is not in the table */

/* Read as much of n bytes of the image at a file offset as there is. */
static size_t read_image(const struct symtab *t, void *out, size_t n, uint64_t offset)
{
    size_t done = 0;

    while (done < n) {
        uint64_t at = t->plan->header->image_offset + offset + done;
        ssize_t got = pread(t->fd, (char *)out + done, n - done, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* Make the window hold n bytes of the string table at `at`; the number that there are, at most n. */
static size_t look(struct symtab *t, uint64_t at, size_t n)
{
    const struct plan_header *h = t->plan->header;
    uint64_t left = h->strings_size - at;

    if (n > left)
        n = (size_t)left;
    if (at < t->window_at || at - t->window_at > t->window_size || t->window_size - (at - t->window_at) < n) {
        t->window_at = at;
        t->window_size = read_image(t, t->window, left < SYMTAB_WINDOW ? (size_t)left : SYMTAB_WINDOW, h->strings + at);
        if (n > t->window_size)
            n = t->window_size;
    }
    return n;
}

static void find_names_end(struct symtab *t)
{
    uint64_t end = t->plan->header->strings_size;

    while (end != 0) {
        uint64_t start = end < SYMTAB_WINDOW ? 0 : end - SYMTAB_WINDOW;
        size_t n = look(t, start, (size_t)(end - start));
        const char *nul = memrchr(t->window + (start - t->window_at), 0, n);

        if (nul != NULL) {
            t->names_end = t->window_at + (uint64_t)(nul - t->window) + 1;
            return;
        }
        end = start;
    }
}

bool symtab_open(struct symtab *table, const struct plan *plan, int fd)
{
    table->plan = plan;
    table->fd = fd;
    table->window_at = table->window_size = table->names_end = 0;
    if (!same_file(plan->header, fd))
        return false;
    find_names_end(table);
    return true;
}

void symtab_each(const struct symtab *t, void (*each)(void *argument, const Elf64_Sym *symbol), void *argument)
{
    Elf64_Sym chunk[CHUNK];
    uint64_t left = t->plan->header->names_count, offset = t->plan->header->names;

    while (left != 0) {
        size_t want = left < CHUNK ? (size_t)left : CHUNK;
        size_t got = read_image(t, chunk, want * sizeof chunk[0], offset) / sizeof chunk[0];

        for (size_t i = 0; i < got; i++)
            each(argument, &chunk[i]);
        if (got != want)
            return;
        left -= got;
        offset += got * sizeof chunk[0];
    }
}

/* The first bytes of a name, at most most, in *name; how many there are. */
static size_t name_start(struct symtab *t, uint64_t at, size_t most, const char **name)
{
    size_t n;

    if (at >= t->names_end) {
        *name = corrupt;
        return strnlen(corrupt, most);
    }
    n = look(t, at, most);
    *name = t->window + (at - t->window_at);
    return strnlen(*name, n);
}

/* $a, $d, $t, $x, alone or before a dot, mark what follows them as code or data: they name nothing. In .symtab a
 * version may follow, which is no part of the name. */
static bool is_mapping_symbol(const struct symtab *t, const char *name, size_t n)
{
    return n >= 2 && name[0] == '$' && memchr("adtx", name[1], 4) != NULL &&
           (n == 2 || name[2] == '.' || (name[2] == '@' && t->plan->header->names_dynamic == 0));
}

bool symtab_can_answer(const Elf64_Sym *y)
{
    unsigned type = ELF64_ST_TYPE(y->st_info);

    return y->st_name != 0 && y->st_shndx != SHN_UNDEF && (y->st_shndx < SHN_LORESERVE || y->st_shndx == SHN_XINDEX) &&
           (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

unsigned symtab_rank(struct symtab *t, const Elf64_Sym *y)
{
    unsigned binding = ELF64_ST_BIND(y->st_info), type = ELF64_ST_TYPE(y->st_info), underscores = 0;
    unsigned by_binding = binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
    unsigned by_type = type == STT_FUNC ? 0 : type == STT_GNU_IFUNC ? 1 : type == STT_OBJECT ? 2 : 3;
    const char *name;
    size_t n = name_start(t, y->st_name, NAME_START, &name);

    if (n == 0 || is_mapping_symbol(t, name, n))
        return SYMTAB_NO_RANK;
    while (underscores < n && name[underscores] == '_')
        underscores++;
    return by_binding << 16 | by_type << 8 | underscores;
}

size_t symtab_name(struct symtab *t, uint64_t at, char *out, size_t cap)
{
    size_t length = 0, n, kept;

    do {
        const char *part, *version = NULL;
        size_t first = length == 0 ? 1 : 0;

        n = name_start(t, at + length, SYMTAB_WINDOW, &part);
        if (t->plan->header->names_dynamic == 0 && n > first)
            version = memchr(part + first, '@', n - first);
        kept = version != NULL ? (size_t)(version - part) : n;
        if (length < cap)
            memcpy(out + length, part, kept < cap - length ? kept : cap - length);
        length += kept;
    } while (kept == SYMTAB_WINDOW);
    return length;
}

