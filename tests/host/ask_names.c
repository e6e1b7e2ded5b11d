/* Reads a symbol table and addresses, and answers them, for a test that has another reader of the same rules.
 *
 * In, all words u64: whether the table is .dynsym, the symbols, the bytes of their strings, the addresses; then the
 * symbols, the strings, the addresses. Out: for each address a line, "NAME+OFFSET", or "-". The segments are those of
 * good_plan.h. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
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

int main(void)
{
    struct good_plan good = good_plan();
    struct plan plan = view_of(&good);
    struct stat s;
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
    for (; addresses != 0; addresses--) {
        char name[256];
        size_t length;
        uint64_t offset;

        if (names_lookup_link(&plan, fd, read_word(), name, sizeof name, &length, &offset))
            printf("%.*s+%lu\n", (int)length, name, offset);
        else
            puts("-");
    }
    return 0;
}
