/* Names for addresses: what is this reader's own; the rules of choice are in test_names.py, for both readers. */
#define _GNU_SOURCE /* memfd_create */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "good_plan.h"
#include "load.h"
#include "names.h"

#define SYMBOLS 400
#define STRING_BYTES 0x3000

struct image host_image;

struct fixture {
    struct good_plan good;
    struct plan plan;
    int fd;
    Elf64_Sym symbols[SYMBOLS]; /* at NAMES in the image */
    char strings[STRING_BYTES]; /* after them */
    size_t count, used;
};

/* After the null symbol come as many that answer nothing that the next ones are in another read of the table. */
static void begin(struct fixture *f, size_t fillers)
{
    *f = (struct fixture){.good = good_plan(), .count = 1, .used = 1};
    for (size_t i = 0; i < fillers; i++)
        f->symbols[f->count++] = (Elf64_Sym){.st_value = 1, .st_name = 0, .st_shndx = 1};
}

static void add(struct fixture *f, const char *name, uint64_t value, uint64_t size, unsigned bind, unsigned type,
                unsigned section)
{
    CHECK(f->count < SYMBOLS && f->used + strlen(name) < STRING_BYTES);
    f->symbols[f->count++] =
        (Elf64_Sym){.st_name = (Elf64_Word)f->used, .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
                    .st_shndx = (Elf64_Half)section, .st_value = value, .st_size = size};
    strcpy(f->strings + f->used, name);
    f->used += strlen(name) + 1;
}

static void finish(struct fixture *f)
{
    struct stat s;
    size_t symbols = f->count * sizeof f->symbols[0];

    f->fd = memfd_create("image", 0);
    CHECK(pwrite(f->fd, f->symbols, symbols, NAMES) == (ssize_t)symbols);
    CHECK(pwrite(f->fd, f->strings, f->used, (off_t)(NAMES + symbols)) == (ssize_t)f->used);
    CHECK(fstat(f->fd, &s) == 0);
    f->good.h.file_dev = s.st_dev;
    f->good.h.file_ino = s.st_ino;
    f->good.h.file_size = f->good.h.image_size = (uint64_t)s.st_size;
    f->good.h.file_mtime_ns = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
    f->good.h.file_ctime_ns = (uint64_t)s.st_ctim.tv_sec * 1000000000u + (uint64_t)s.st_ctim.tv_nsec;
    f->good.h.names_count = f->count;
    f->good.h.strings = NAMES + symbols;
    f->good.h.strings_size = f->used;
    f->plan = view_of(&f->good);
}

/* The answer for a link address: "name+offset" in decimal, or "" for none. */
static const char *answer(const struct fixture *f, uint64_t address)
{
    static char text[256];
    char name[200];
    size_t length = 1000;
    uint64_t offset = 1000;

    errno = 77;
    text[0] = 0;
    if (names_lookup_link(&f->plan, f->fd, address, name, sizeof name, &length, &offset)) {
        CHECK(length < sizeof name);
        snprintf(text, sizeof text, "%.*s+%lu", (int)length, name, offset);
    } else {
        CHECK(length == 1000 && offset == 1000);
    }
    CHECK(errno == 77);
    return text;
}

static void check_answer(const struct fixture *f, uint64_t address, const char *want, int line)
{
    if (strcmp(answer(f, address), want) != 0) {
        fprintf(stderr, "line %d: at %#lx want \"%s\", got \"%s\"\n", line, address, want, answer(f, address));
        exit(1);
    }
}

#define ANSWER(address, want) check_answer(&f, address, want, __LINE__)

static void the_innermost_sized_symbol_answers(size_t fillers)
{
    static struct fixture f;

    begin(&f, fillers);
    add(&f, "inner", CODE + 0x10, 8, STB_LOCAL, STT_FUNC, 2);
    add(&f, "outer", CODE, 0x40, STB_GLOBAL, STT_FUNC, 2);
    add(&f, "label", CODE + 0x30, 0, STB_LOCAL, STT_NOTYPE, 2);
    add(&f, "table", CODE + 0x80, 8, STB_LOCAL, STT_OBJECT, 2);
    add(&f, "wide", CODE + 0x100, 0x20, STB_GLOBAL, STT_FUNC, 2);
    add(&f, "narrow", CODE + 0x100, 0x10, STB_LOCAL, STT_FUNC, 2);
    add(&f, "variable", DATA + 0x2000, 8, STB_LOCAL, STT_OBJECT, 4);
    finish(&f);
    ANSWER(CODE, "outer+0");
    ANSWER(CODE + 0x0f, "outer+15");
    ANSWER(CODE + 0x10, "inner+0");
    ANSWER(CODE + 0x17, "inner+7");
    ANSWER(CODE + 0x18, "outer+24"); /* after the inner one the outer one again */
    ANSWER(CODE + 0x34, "outer+52"); /* not the label inside it */
    ANSWER(CODE + 0x3f, "outer+63");
    ANSWER(CODE + 0x40, ""); /* padding; the label before it is none */
    ANSWER(CODE + 0x87, "table+7");
    ANSWER(CODE + 0x88, "");
    ANSWER(CODE + 0x10f, "narrow+15");
    ANSWER(CODE + 0x110, "wide+16");
    ANSWER(CODE - 1, "");
    ANSWER(CODE + 0xfff, "");
    ANSWER(DATA + 0x2007, "variable+7"); /* past the file's bytes */
    ANSWER(HI, "");
    ANSWER(0, "");
    ANSWER(UINT64_MAX, "");
    close(f.fd);
}

static void room_cuts_the_copy_and_not_the_length(void)
{
    static char name[9000], out[9000];
    static struct fixture f;
    size_t length;
    uint64_t offset;

    memset(name, 'n', sizeof name - 1);
    begin(&f, 0);
    add(&f, name, CODE, 4, STB_GLOBAL, STT_FUNC, 2);
    finish(&f);
    memset(out, '.', sizeof out);
    CHECK(names_lookup_link(&f.plan, f.fd, CODE, out, 3, &length, &offset) == 1);
    CHECK(length == sizeof name - 1 && memcmp(out, "nnn.", 4) == 0);
    CHECK(names_lookup_link(&f.plan, f.fd, CODE, NULL, 0, &length, &offset) == 1 && length == sizeof name - 1);
    CHECK(names_lookup_link(&f.plan, f.fd, CODE, out, sizeof out, &length, &offset) == 1);
    CHECK(memcmp(out, name, sizeof name - 1) == 0 && out[sizeof name - 1] == '.');
    close(f.fd);
}

static void run_time_addresses_are_moved(void)
{
    static struct fixture f;
    static uint8_t base[HI - LO];
    char out[8];
    size_t length;
    uint64_t offset;

    begin(&f, 0);
    add(&f, "main", CODE, 4, STB_GLOBAL, STT_FUNC, 2);
    finish(&f);
    host_image = (struct image){.plan = &f.plan, .base = base, .fd = f.fd};
    CHECK(names_lookup((uintptr_t)base + (CODE - LO) + 3, out, sizeof out, &length, &offset) == 1);
    CHECK(length == 4 && memcmp(out, "main", 4) == 0 && offset == 3);
    CHECK(names_lookup((uintptr_t)base - 1, out, sizeof out, &length, &offset) == 0);
    CHECK(names_lookup((uintptr_t)base + sizeof base, out, sizeof out, &length, &offset) == 0);
    CHECK(names_lookup(CODE, out, sizeof out, &length, &offset) == 0);
    close(f.fd);
}

/* A wrong name is worse than none. */
static void a_file_that_changed_answers_nothing(void)
{
    static struct fixture f;

    begin(&f, 0);
    add(&f, "main", CODE, 4, STB_GLOBAL, STT_FUNC, 2);
    finish(&f);
    ANSWER(CODE, "main+0");
    CHECK(pwrite(f.fd, "", 1, (off_t)f.good.h.file_size) == 1);
    ANSWER(CODE, "");
    close(f.fd);
    ANSWER(CODE, "");
}

static void no_table_answers_nothing(void)
{
    static struct fixture f;

    begin(&f, 0);
    add(&f, "main", CODE, 4, STB_GLOBAL, STT_FUNC, 2);
    finish(&f);
    f.good.h.names_count = 0;
    ANSWER(CODE, "");
    f.good.h.names_count = 2;
    f.good.h.strings_size = 0;
    ANSWER(CODE, "<corrupt>+0");
    close(f.fd);
}

int main(void)
{
    the_innermost_sized_symbol_answers(0);
    the_innermost_sized_symbol_answers(125); /* the symbols lie across the end of a read */
    room_cuts_the_copy_and_not_the_length();
    run_time_addresses_are_moved();
    a_file_that_changed_answers_nothing();
    no_table_answers_nothing();
    return 0;
}
