/* Reads a symbol table and addresses, and answers them, for a test that has another reader of the same rules.
 *
 * All names of the code at once must be the same: that is checked here.
 *
 * In, all words u64: whether the table is .dynsym, the symbols, the bytes of their strings, the addresses; then the
 * symbols, the strings, the addresses. Out: for each address a line, "NAME+OFFSET", or "-". The segments are those of
 * good_plan.h. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "code.h"
#include "good_plan.h"
#include "names.h"

struct image host_image;

static uint64_t read_word(void)
{
    uint64_t word;

    CHECK(fread(&word, sizeof word, 1, stdin) == 1);
    return word;
}

static void copy_to(int fd, size_t n)
{
    for (; n != 0; n--) {
        char byte = (char)getchar();

        CHECK(write(fd, &byte, 1) == 1);
    }
}

/* Whether an address of code has among all names of the code this one, or none for length 0. */
static bool is_named(struct code *code, uint64_t address, const char *name, size_t length)
{
    const struct code_range *range = code_find(code, address);
    char found[256];

    if (address < CODE || address >= CODE + 0x1000 || range == NULL)
        return range == NULL && (length == 0 || address < CODE || address >= CODE + 0x1000);
    return code_name(code, range, found, sizeof found) == length && memcmp(found, name, length) == 0;
}

static void check_order(const struct code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        CHECK(code->ranges[i].start < code->ranges[i].end);
        CHECK(i == 0 || code->ranges[i - 1].end <= code->ranges[i].start);
    }
}

int main(void)
{
    struct good_plan good = good_plan();
    struct plan plan = view_of(&good);
    struct stat s;
    static struct code code;
    const char *reason;
    uint64_t addresses;
    int fd = memfd_create("image", 0);

    good.h.names = 0;
    good.h.names_dynamic = read_word();
    good.h.names_count = read_word();
    good.h.strings = good.h.names_count * 24;
    good.h.strings_size = read_word();
    addresses = read_word();
    copy_to(fd, good.h.strings + good.h.strings_size);
    CHECK(fstat(fd, &s) == 0);
    good.h.file_dev = s.st_dev;
    good.h.file_ino = s.st_ino;
    good.h.file_size = (uint64_t)s.st_size;
    good.h.file_mtime_ns = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
    good.h.file_ctime_ns = (uint64_t)s.st_ctim.tv_sec * 1000000000u + (uint64_t)s.st_ctim.tv_nsec;
    (void)code_read(&code, &plan, fd, &reason);
    check_order(&code);
    for (; addresses != 0; addresses--) {
        char name[256];
        size_t length = 0;
        uint64_t address = read_word(), offset;

        if (names_lookup_link(&plan, fd, address, name, sizeof name, &length, &offset))
            printf("%.*s+%lu\n", (int)length, name, offset);
        else
            puts("-");
        CHECK(is_named(&code, address, name, length));
    }
    code_free(&code);
    return 0;
}
