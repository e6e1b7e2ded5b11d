/* The one check of a plan. Everything after it trusts the plan; nothing trusts the image's bytes. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define MAX_SEGMENTS 64u
#define MAX_SYMBOLS (UINT64_C(1) << 20)
#define MAX_RELOCATIONS (UINT64_C(1) << 24)
#define MAX_ADDRESS (UINT64_C(1) << 40)
#define MAX_ALIGN (UINT64_C(1) << 21)
#define MAX_SPAN (UINT64_C(1) << 30)
#define MAX_STACK (UINT64_C(1) << 30)
#define MAX_INITIALISERS 8192u
#define SYMBOL_BYTES 24u
#define MAX_PREOPENS 64u
#define MAX_DIGITS 9u /* of a descriptor */

static bool bad(struct refusal *why, const char *what, uint64_t got, uint64_t limit)
{
    return refuse(why, "plan: %s (got %#lx, limit %#lx) [PLAN-2]", what, got, limit);
}

/* What of the plan is still unread. */
struct rest {
    const uint8_t *at;
    uint64_t left;
};

/* The next count x size bytes, and the zero bytes after them up to a multiple of 8; null when they are not there. */
static const void *take(struct rest *rest, uint64_t count, uint64_t size)
{
    const uint8_t *start = rest->at;
    uint64_t bytes, padded;

    if (count > rest->left / size)
        return NULL;
    bytes = count * size;
    padded = (bytes + 7) & ~UINT64_C(7);
    if (padded > rest->left)
        return NULL;
    for (uint64_t i = bytes; i < padded; i++) {
        if (start[i] != 0)
            return NULL;
    }
    rest->at += padded;
    rest->left -= padded;
    return start;
}

/* The next string: its length, its bytes, a NUL. */
static const char *take_string(struct rest *rest, uint64_t *length)
{
    const uint64_t *size = take(rest, 1, sizeof *size);
    const char *text;

    if (size == NULL || *size >= rest->left)
        return NULL;
    text = take(rest, *size + 1, 1);
    if (text == NULL || text[*size] != 0)
        return NULL;
    *length = *size;
    return text;
}

/* The next string, of words. */
static bool take_words(struct rest *rest, struct plan_words *words)
{
    words->at = take_string(rest, &words->size);
    return words->at != NULL && (words->size == 0 || words->at[words->size - 1] == 0);
}

const char *plan_next_word(const struct plan_words *words, const char *word)
{
    const char *next = word == NULL ? words->at : word + strlen(word) + 1;

    return next < words->at + words->size ? next : NULL;
}

bool plan_is_none(const struct plan_words *words)
{
    return words->size == 1; /* one empty word */
}

/* A descriptor that is no standard stream, then a name, again and again. */
static bool check_preopens(const struct plan_words *words, struct refusal *why)
{
    uint64_t count = 0;

    if (plan_is_none(words))
        return true;
    for (const char *fd = NULL, *name = NULL; (fd = plan_next_word(words, name)) != NULL; count++) {
        name = plan_next_word(words, fd);
        if (strspn(fd, "0123456789") != strlen(fd) || strlen(fd) > MAX_DIGITS || strtol(fd, NULL, 10) < 3)
            return refuse(why, "plan: descriptor of a directory (got %s, limit 3) [PLAN-2]", fd);
        if (name == NULL || name[0] == 0)
            return refuse(why, "plan: a directory has no name [PLAN-2]");
    }
    return count <= MAX_PREOPENS || bad(why, "directories", count, MAX_PREOPENS);
}

static bool take_strings(struct rest *rest, struct plan *plan, struct refusal *why)
{
    uint64_t path, build_id, report_dir, run;

    plan->path = take_string(rest, &path);
    plan->build_id = plan->path == NULL ? NULL : take_string(rest, &build_id);
    plan->report_dir = plan->build_id == NULL ? NULL : take_string(rest, &report_dir);
    plan->run = plan->report_dir == NULL ? NULL : take_string(rest, &run);
    if (plan->run == NULL || !take_words(rest, &plan->preopens) || !take_words(rest, &plan->runner) ||
        !take_words(rest, &plan->imports))
        return refuse(why, "plan: a string is cut [PLAN-2]");
    if (path == 0 || strlen(plan->path) != path || strlen(plan->report_dir) != report_dir)
        return refuse(why, "plan: a path is empty or has a NUL [PLAN-2]");
    if (strlen(plan->run) != run)
        return refuse(why, "plan: the run has a NUL [PLAN-2]");
    if (strspn(plan->build_id, "0123456789abcdef") != build_id)
        return refuse(why, "plan: the build id is not hexadecimal [PLAN-2]");
    return check_preopens(&plan->preopens, why);
}

static bool check_file(const struct plan_header *h, struct refusal *why)
{
    if (h->file_fd < 3 || h->file_fd > INT_MAX)
        return bad(why, "file descriptor", h->file_fd, INT_MAX);
    if (h->image_offset % PLAN_PAGE != 0 || h->image_offset > h->file_size)
        return bad(why, "image offset", h->image_offset, h->file_size);
    if (h->image_size > h->file_size - h->image_offset)
        return bad(why, "image size", h->image_size, h->file_size - h->image_offset);
    if (h->file_size > INT64_MAX)
        return bad(why, "file size", h->file_size, INT64_MAX);
    if (h->names_dynamic > 1)
        return bad(why, "names_dynamic", h->names_dynamic, 1);
    if (h->names_count > h->image_size / SYMBOL_BYTES)
        return bad(why, "names", h->names_count, h->image_size / SYMBOL_BYTES);
    if (h->names > h->image_size - h->names_count * SYMBOL_BYTES)
        return bad(why, "offset of the names", h->names, h->image_size);
    if (h->strings_size > h->image_size || h->strings > h->image_size - h->strings_size)
        return bad(why, "offset of the names' strings", h->strings, h->image_size);
    return true;
}

static uint64_t page_up(uint64_t address)
{
    return (address + PLAN_PAGE - 1) & ~(uint64_t)(PLAN_PAGE - 1);
}

/* Segments ascend, share no page, lie in [lo, hi) and have their bytes inside the image. */
static bool check_segments(const struct plan *plan, struct refusal *why)
{
    const struct plan_header *h = plan->header;
    uint64_t free_from = h->lo;

    if (h->lo % PLAN_PAGE != 0 || h->hi % PLAN_PAGE != 0 || h->hi > MAX_ADDRESS || h->lo >= h->hi)
        return bad(why, "end of the address range", h->hi, MAX_ADDRESS);
    if (h->align < PLAN_PAGE || h->align > MAX_ALIGN || (h->align & (h->align - 1)) != 0)
        return bad(why, "alignment", h->align, MAX_ALIGN);
    if (h->hi - h->lo > MAX_SPAN)
        return bad(why, "address range", h->hi - h->lo, MAX_SPAN);
    for (uint64_t i = 0; i < h->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];

        if ((s->prot & PLAN_PROT_R) == 0 || s->prot > 7 || (s->prot & 3) == 3)
            return bad(why, "permissions of a segment", s->prot, 7);
        if (s->memsz == 0 || s->filesz > s->memsz || ((s->prot & PLAN_PROT_X) != 0 && s->filesz != s->memsz))
            return bad(why, "file size of a segment", s->filesz, s->memsz);
        if (s->vaddr < free_from)
            return bad(why, "a segment begins too low", s->vaddr, free_from);
        if (s->memsz > h->hi - h->lo || s->vaddr > h->hi - s->memsz)
            return bad(why, "a segment ends too high", s->vaddr, h->hi);
        if (s->filesz > h->image_size || s->offset > h->image_size - s->filesz)
            return bad(why, "offset of a segment", s->offset, h->image_size);
        if (s->offset % PLAN_PAGE != s->vaddr % PLAN_PAGE)
            return bad(why, "offset of a segment within its page", s->offset, s->vaddr);
        free_from = page_up(s->vaddr + s->memsz);
    }
    return true;
}

const struct plan_segment *plan_segment_of(const struct plan *plan, uint64_t addr, uint64_t size, uint64_t prot)
{
    for (uint64_t i = 0; i < plan->header->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];

        if ((s->prot & prot) == prot && addr >= s->vaddr && size <= s->filesz &&
            addr - s->vaddr <= s->filesz - size)
            return s;
    }
    return NULL;
}

static bool check_table(const struct plan *plan, const char *what, uint64_t addr, uint64_t count, uint64_t size,
                        uint64_t most, uint64_t prot, struct refusal *why)
{
    if (count == 0)
        return true;
    if (count > most)
        return bad(why, what, count, most);
    if (addr % 8 != 0 || plan_segment_of(plan, addr, count * size, prot) == NULL)
        return bad(why, what, addr, plan->header->hi);
    return true;
}

static bool check_code(const struct plan *plan, const char *what, uint64_t addr, struct refusal *why)
{
    return plan_segment_of(plan, addr, 1, PLAN_PROT_X) != NULL || bad(why, what, addr, plan->header->hi);
}

static bool check_relro(const struct plan *plan, struct refusal *why)
{
    const struct plan_header *h = plan->header;

    if (h->relro_size == 0)
        return true;
    for (uint64_t i = 0; i < h->segment_count; i++) {
        const struct plan_segment *s = &plan->segments[i];
        uint64_t end = page_up(s->vaddr + s->memsz);

        if ((s->prot & PLAN_PROT_W) != 0 && h->relro >= s->vaddr && h->relro < end &&
            h->relro_size <= end - h->relro)
            return true;
    }
    return bad(why, "relro", h->relro, h->hi);
}

static bool check_places(const struct plan *plan, struct refusal *why)
{
    const struct plan_header *h = plan->header;

    if (h->stack == 0 || h->stack % PLAN_PAGE != 0 || h->stack > MAX_STACK)
        return bad(why, "stack", h->stack, MAX_STACK);
    return check_code(plan, "entry", h->entry, why) && (h->init == 0 || check_code(plan, "init", h->init, why)) &&
           (h->fini == 0 || check_code(plan, "fini", h->fini, why)) &&
           check_table(plan, "init array", h->init_array, h->init_count, 8, MAX_INITIALISERS, PLAN_PROT_W, why) &&
           check_table(plan, "fini array", h->fini_array, h->fini_count, 8, MAX_INITIALISERS, PLAN_PROT_W, why) &&
           check_table(plan, "rela", h->rela, h->rela_count, 24, MAX_RELOCATIONS, PLAN_PROT_R, why) &&
           check_table(plan, "jmprel", h->jmprel, h->jmprel_count, 24, MAX_RELOCATIONS, PLAN_PROT_R, why) &&
           check_table(plan, "relr", h->relr, h->relr_count, 8, MAX_RELOCATIONS, PLAN_PROT_R, why) &&
           check_relro(plan, why);
}

/* Entry 0 is the null symbol: no relocation can name it, so its value means nothing. */
static bool check_symbols(const struct plan *plan, struct refusal *why)
{
    const struct plan_header *h = plan->header;

    for (uint64_t i = 1; i < h->symbol_count; i++) {
        uint64_t value = plan->values[i];

        switch (plan->kinds[i]) {
        case PLAN_SYMBOL_ABSOLUTE:
            break;
        case PLAN_SYMBOL_IMAGE:
            if (value < h->lo || value > h->hi)
                return bad(why, "value of a symbol", value, h->hi);
            break;
        case PLAN_SYMBOL_KAL:
        case PLAN_SYMBOL_KAL_WEAK:
            if (value >= plan->imports.size || plan->imports.at[value] == 0 ||
                (value != 0 && plan->imports.at[value - 1] != 0))
                return bad(why, "name of an import", value, plan->imports.size);
            break;
        default:
            return bad(why, "kind of a symbol", plan->kinds[i], PLAN_SYMBOL_KAL_WEAK);
        }
    }
    return true;
}

bool plan_decode(const void *bytes, size_t size, struct plan *plan, struct refusal *why)
{
    struct rest rest = {.at = bytes, .left = size};
    const struct plan_header *h = take(&rest, 1, sizeof *h);

    if (h == NULL)
        return bad(why, "cut", size, sizeof *h);
    if (h->magic != PLAN_MAGIC)
        return bad(why, "another format", h->magic, PLAN_MAGIC);
    if (h->machine != HOST_MACHINE)
        return bad(why, "for another processor than " HOST_ARCH, h->machine, HOST_MACHINE);
    if (h->size != size)
        return bad(why, "size", size, h->size);
    if (h->segment_count == 0 || h->segment_count > MAX_SEGMENTS)
        return bad(why, "segments", h->segment_count, MAX_SEGMENTS);
    if (h->symbol_count > MAX_SYMBOLS)
        return bad(why, "symbols", h->symbol_count, MAX_SYMBOLS);
    plan->header = h;
    plan->segments = take(&rest, h->segment_count, sizeof *plan->segments);
    plan->values = plan->segments == NULL ? NULL : take(&rest, h->symbol_count, sizeof *plan->values);
    plan->kinds = plan->values == NULL ? NULL : take(&rest, h->symbol_count, sizeof *plan->kinds);
    if (plan->kinds == NULL)
        return refuse(why, "plan: cut in its tables [PLAN-2]");
    if (!take_strings(&rest, plan, why))
        return false;
    if (rest.left != 0)
        return bad(why, "bytes after its end", rest.left, 0);
    if (h->measure > PLAN_MEASURE_ALL || (h->measure == 0 && (plan->report_dir[0] != 0 || plan->run[0] != 0)))
        return bad(why, "measure", h->measure, PLAN_MEASURE_ALL);
    return check_file(h, why) && check_segments(plan, why) && check_places(plan, why) && check_symbols(plan, why);
}
